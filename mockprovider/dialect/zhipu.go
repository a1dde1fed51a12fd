package dialect

import (
	"encoding/json"

	"herdlab/mockprovider/wire"
)

// zhipu is Zhipu's GLM (Z.ai): OpenAI's answers, and {"error":{"code",
// "message"}} with a business code that is a string of digits. Replies have no
// hints. The texts are Chinese, so a reader of English keywords uses the
// status, which is 429 for a limit, for overload and for an unpaid bill.
//
// Not verified: the statuses and texts of the codes from 1210 to 1261, the form
// of an error in a stream.
func zhipu() Dialect {
	return Dialect{
		Name: "zhipu", Title: "Zhipu GLM",
		Example: openAISDK("/api/paas/v4"),
		codec:   zhipuCodec{chat{extend: zhipuExtend, usageInLast: true}},
		templates: templates{
			wire.OK:           {Status: 200},
			wire.Rate:         {Status: 429, Code: "1302", Spelled: wire.NoPlaceForHint, Text: "您的账户已达到速率限制,请您控制请求频率"},
			wire.TokenRate:    {Status: 429, Code: "1302", As: wire.Rate, Spelled: wire.NoPlaceForHint, Text: "您的账户已达到速率限制,请您控制请求频率"},
			wire.Concurrency:  {Status: 429, Code: "1302", As: wire.Rate, Spelled: wire.NoPlaceForHint, Text: "您当前使用该API的并发数过高,请降低并发"},
			wire.Acceleration: {Status: 429, Code: "1303", As: wire.Rate, Spelled: wire.NoPlaceForHint, Text: "您当前使用该API的频率过高,请降低频率"},
			wire.Overloaded:   {Status: 429, Code: "1305", Spelled: wire.NoPlaceForHint, Text: "该模型当前访问量过大,请您稍后再试"},
			wire.Quota:        {Status: 429, Code: "1113", Spelled: wire.NoPlaceForHint, Text: "您的账户已欠费,请充值后重试"},
			wire.Auth:         {Status: 401, Code: "1000", Spelled: wire.NoPlaceForHint, Text: "身份验证失败"},
			wire.Permission:   {Status: 403, Code: "1220", Spelled: wire.NoPlaceForHint, Text: "您无权访问该模型"},
			wire.BadRequest:   {Status: 400, Code: "1210", Spelled: wire.NoPlaceForHint, Text: "API 调用参数有误,请检查文档"},
			wire.TooLarge:     {Status: 400, Code: "1261", Spelled: wire.NoPlaceForHint, Text: "Prompt 超长"},
			wire.ServerError:  {Status: 500, Code: "500", Spelled: wire.NoPlaceForHint, Text: "内部错误"},
			wire.Timeout:      {Status: 500, Code: "1234", As: wire.ServerError, Spelled: wire.NoPlaceForHint, Text: "网络错误,请稍后重试"},
		},
		routes: []route{
			{"POST", "/api/paas/v4/chat/completions", Complete, false},
			{"POST", "/api/coding/paas/v4/chat/completions", Complete, false},
			{"GET", "/api/paas/v4/models", ListModels, false},
		},
		keys:     []keyPlace{{header: "Authorization", scheme: "Bearer "}},
		classify: zhipuClass,
	}
}

// zhipuClass classifies the documented codes that no template has.
func zhipuClass(in *findings) wire.Class {
	switch in.Code {
	case "1303":
		return wire.Rate
	case "1312": // overloaded: use another model
		return wire.Overloaded
	case "1304", "1308", "1309", "1310", "1313": // quotas per day, plan and week; an expired plan; fair use
		return wire.Quota
	case "1001", "1002", "1003", "1004":
		return wire.Auth
	case "1112", "1121", "1311": // a locked account; a model that is not in the plan
		return wire.Permission
	case "1211", "1213", "1214", "1215":
		return wire.BadRequest
	case "1230", "1234":
		return wire.ServerError
	}
	return wire.OK
}

type zhipuCodec struct{ chat }

// zhipuFields are the additional fields of an answer.
type zhipuFields struct {
	RequestID string `json:"request_id,omitempty"`
}

func zhipuExtend(body chatBody, c *Context) chatBody {
	body.ID, body.extra = c.ID, zhipuFields{c.ID}
	return body
}

type zhipuError struct {
	Error struct {
		Code    string `json:"code"`
		Message string `json:"message"`
		hintFields
	} `json:"error"`
}

func (zhipuCodec) errorOf(f *failure) (e zhipuError) {
	e.Error.Code, e.Error.Message, e.Error.hintFields = f.template.Code, f.Message, f.hintFields
	return e
}

func (v zhipuCodec) appendError(b []byte, _ *Context, f *failure) []byte {
	return appendJSON(b, v.errorOf(f))
}

func (v zhipuCodec) appendStreamError(b []byte, _ *Context, f *failure, _ int) []byte {
	return appendEvent(b, "", v.errorOf(f))
}

func (v zhipuCodec) readBody(body []byte, in *findings) { v.readErrorOrAnswer(body, in) }

func (v zhipuCodec) readFrame(_ string, data []byte, in *findings) { v.readErrorOrAnswer(data, in) }

func (zhipuCodec) likeness(p *probe) int {
	var code string
	switch _ = json.Unmarshal(p.inner["code"], &code); {
	case len(code) == 4 && isDigits(code) && !p.errorHas("type"), code == "500" && !p.errorHas("type"):
		return 3
	case p.has("choices", "request_id"):
		return 3
	}
	return 0
}
