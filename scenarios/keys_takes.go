package scenarios

import (
	"reflect"
	"strings"

	"herdlab/mockprovider"
	"herdlab/strategies"
	"herdlab/strategies/layers"
)

// capacityForm is what capacities are read into.
var capacityForm mockprovider.Capacity

// choiceNames are what the things are called that one may choose from.
var choiceNames = map[reflect.Type]string{
	reflect.TypeFor[strategies.Layer]():         "layer",
	reflect.TypeFor[strategies.Backoff]():       "backoff",
	reflect.TypeFor[layers.Trip]():              "trip",
	reflect.TypeFor[mockprovider.Limit]():       "limit",
	reflect.TypeFor[mockprovider.Disturbance](): "fault without from and to, or pass",
}

// trafficForms are the sources, with what they take.
var trafficForms = []struct {
	name, takes string
	keys        []string
}{
	{"one_shot", "one call of each client, in the beginning", oneShotKeys},
	{"closed", "the next call a pause after the last answer", closedKeys},
	{"open", "at random, whatever became of earlier calls", openKeys},
	{"bursts", "a list of batches, each evenly in its time:", batchKeys},
	{"at", "a list of times", nil},
	{"periodic", "one call of each client in every period", periodicKeys},
	{"trace", "rows of a file: compare … --trace FILE", nil},
}

// takesOf says what a key takes that is read by itself.
func takesOf(of, key string) string {
	if text, ok := takesBy[of+"."+key]; ok {
		return text
	}
	return takesBy["."+key]
}

// takesBy is that, by the section and the key; a key that is the same in several
// sections stands without one.
var takesBy = map[string]string{
	".herdlab": "the version of the format, 1; the first key", ".name": "lower-case letters, digits, dots and hyphens",
	".title": "one line", ".about": "prose; its first paragraph stands above the table",
	".horizon": "a duration: when runs are cut off", ".bin": "a duration: the width of bins, 1s without it",
	".fleet": "a fleet", ".fleets": "several fleets by name, in place of fleet", ".provider": "the provider",
	".faults": "a list of faults", ".strategies": "a list of strategies", ".expect": "a list of expectations",

	"fleet.clients": "a whole number", "fleet.traffic": "when calls arrive",
	"fleet.tokens":   "{input, output, max}, or a list of them with a weight each: each call draws one",
	"fleet.prompts":  "a whole number: how many different questions are asked; without it all differ",
	"fleet.priority": "0 to 255, 0 the most urgent", "fleet.account": strings.Join(accountWords, " | ") + ", the one of all fleets that say so",
	"fleet.address": "shared | per_client", "fleet.key": "0 to 255", "fleet.model": "the name of a model", "fleet.region": "the name of a region",
	"fleet.stream": "true or false", "fleet.network": "{up: time, down: time}",
	"fleet.clock":    "{behind: duration, ahead: duration}: how far clients' clocks are off, evenly",
	"fleet.patience": "a duration: how long callers wait; for ever without it",
	"fleet.strategy": "what it does, whatever is compared: background",

	"one_shot.within": "a duration", "closed.start": "a time", "closed.think": "a time",
	"closed.calls": "a whole number: of each client; endless without it",
	"open.rate":    "a rate", "open.until": "a duration", "open.rhythm": "a factor by time: {every: 24h, steps: [{from: 8h, factor: 3}]}", "bursts.from": "a duration", "bursts.to": "a duration; all at once without it",
	"bursts.calls": "a whole number", "periodic.every": "a duration",
	"periodic.phase": "a duration for all, or {uniform: [0s, 10s]} for each its own", "periodic.until": "a duration",

	"provider.dialect": strings.Join(dialectNames(), " | ") + ", or {" + ownDialect + ": …}", "provider.auth": "which keys are rejected, and how", "provider.limits": "a list of limits",
	"provider.keep_on_refusal": "true or false: limits count what a later one refuses",
	"provider.tells":           "a whole number: the limit that successes tell of", "provider.capacity": "what serves requests",
	"provider.models": "models by name", "provider.regions": "regions by name", "provider.abandoned": "never, at_once or a duration: when it notices that a client has hung up",
	"provider.refusal_time": "a duration", "provider.keys": "1 to 256: of each account", "provider.organisation_size": "a whole number of accounts",

	"auth.reject_keys": "a list of keys", "auth.reply": "a refusal",
	"model.capacity": "its own; else the provider's", "model.others": "a share of its slots that others hold, or {every, steps: [{from, value}]}",
	"model.price":  "{input, output} in $ per million tokens",
	"region.scale": "a number: a factor on slots and queue", "region.others": "as of a model", "region.latency": "a duration on top",
	"region.surcharge": "-100 to 900 per cent",

	"code_in_body.path": "where answers are asked for; /NAME/v1/chat without it. The list of models is beside it, at …/models",
	"code_in_body.code": "the field with the business code; code without it", "code_in_body.success": "its value when all is well; 0 without it",
	"code_in_body.message": "the field with the text; message without it", "code_in_body.data": "the field with the answer; data without it",
	"code_in_body.retry_after": "the field with the wait; nobody is asked to wait without it",
	"code_in_body.limit":       "the field with the limit that refused", "code_in_body.remaining": "the field with what remains of it",
	"code_in_body.spelled": strings.Join(spellingWords[:], " | ") + "; body_seconds without it",
	"code_in_body.replies": "by class its code, or {" + strings.Join(replyKeys, ", ") + "}; what is left out is as codybuddy says it, and limits of other kinds are as rate",

	"refusal.reply": strings.Join(formNames(), " | "), "refusal.retry_after": "a duration, " + strings.Join(hintNames(), ", "),
	"refusal.jitter_hint": "a duration: U(0, so much) on top of the hint", "refusal.wrong_by": "a number: a factor on the hint",
	"refusal.spelled": strings.Join(spellingWords[:], " | "), "refusal.says": "a whole number: the limit that the reply states",
	"refusal.should_retry": "true | false: an x-should-retry header; none without it",

	"strategy.name": "of a strategy, or of your own stack", "strategy.summary": "one line, with a stack",
	"strategy.reader": strings.Join(readerWords(), " | ") + ": what clients see of replies", "strategy.stack": "a list of layers",

	"expectation.strategy": "one or a list of those compared; all without it", "expectation.fleet": "one of several fleets; all without it",
	"expectation.metric": "a metric", "expectation.from": "a duration: count from there", "expectation.to": "a duration: count up to there",
	"expectation.is": "what it must be", "expectation.within": "a number, or a percentage of it", "expectation.at_least": "the least it may be",
	"expectation.at_most": "the most it may be", "expectation.between": "[least, most]", "expectation.seeds": "so many, from 1 on; 1 without it",
	"expectation.on": strings.Join(overWords, " | "),

	"comparison.of": "a strategy", "comparison.times": "a number; 1 without it", "comparison.metric": "a metric; the same without it",
	"comparison.fleet": "a fleet; the same without it",
}

// narrower is what settings take that take less than their type has, by the
// kind of thing and the key; a key that is the same for several kinds stands
// without one.
var narrower = map[string]string{
	".scope": "client | fleet | everyone", "latched_class.scope": "call | client | fleet | everyone",
	"silence.when": "at_arrival | after_work", "errors.when": "at_arrival | after_work",
	"errors.class": "a class of replies but ok; server_error without it", "expiry.class": "permission | auth; permission without it",
	"spoil.class": "of a stream_error: a class of replies but ok; overloaded without it", "joint.terms": "but for charge",
}
