package dialect

// codybuddy is the provider of the founding articles: HTTP 200, and 14003 for
// whatever limit was hit. The codes beside 14003 are ours: the articles have
// only that one.
func codybuddy() Dialect {
	return CodeInBody{
		Name: "codybuddy", Title: "Codybuddy (200 + 14003)",
		RetryAfter: "retry_after", Limit: "limit", Remaining: "remaining",
	}.Dialect()
}
