package dialect

// codybuddy is the provider of the reference experiment: HTTP 200, and 14003
// for every limit. The experiment defines only 14003; the other codes are those
// of herdlab.
func codybuddy() Dialect {
	return CodeInBody{
		Name: "codybuddy", Title: "Codybuddy (200 + 14003)",
		RetryAfter: "retry_after", Limit: "limit", Remaining: "remaining",
	}.Dialect()
}
