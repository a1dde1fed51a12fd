package serve

import (
	"net/http"
	"sync/atomic"
	"time"
)

// dates formats Date headers; it keeps the latest, because many replies share a second.
type dates struct{ last atomic.Pointer[date] }

type date struct {
	second int64
	text   string
}

func (d *dates) of(t time.Time) string {
	second := t.Unix()
	if last := d.last.Load(); last != nil && last.second == second {
		return last.text
	}
	text := t.Format(http.TimeFormat)
	d.last.Store(&date{second, text})
	return text
}
