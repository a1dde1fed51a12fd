module example.com/spread

go 1.26.0

require (
	github.com/stretchr/testify v1.12.1
	herdlab v0.0.0
)

require (
	go.yaml.in/yaml/v3 v3.0.5 // indirect
	go.yaml.in/yaml/v4 v4.0.0 // indirect
	gonum.org/v1/gonum v0.17.0 // indirect
)

replace herdlab => ../..
