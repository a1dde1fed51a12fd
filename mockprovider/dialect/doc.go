// Package dialect knows how providers write: each Dialect turns a compact
// wire.Reply into the status, headers and body that its provider sends, reads
// such bytes back, and reads the requests that its clients send. It has no
// clocks and no network; a server and a client bring those.
//
// One law holds it together: for whatever a dialect can say (see Image), any
// wire.Reader learns the same from the bytes as from the compact reply.
//
// # Adding a dialect
//
// A provider that answers HTTP 200 to all and says in a field whether it did is a
// CodeInBody, which scenario files can write. Any other dialect is one file and
// one line in the table in dialect.go. The file has
//
//   - a function that returns the Dialect: names, a template for each class from
//     wire.OK to wire.Timeout, limit headers, routes, keys. A class for which the
//     provider has no words has As, the class it reads as, and that class's Kind
//     and Code; a template with a Number is a business code (wire.CodeBody). What
//     is not verified about the provider is said in the function's comment;
//   - a codec: a value without state whose methods write and read the bodies.
//     Voices that answer as OpenAI's chat completions do embed chat, with a extend
//     for fields of their own, add failure, fail, read, frame and resembles, and
//     call readErrorOrAnswer, or readAnswer for what is no error; readError reads an
//     {"message","type","code"} object. Each error object embeds hintFields, so
//     that every spelling of a hint has a place;
//   - what is unusual about the provider: hidesModel, bothUnits, a header for the
//     Kind, other framing of streams, and so on; see Dialect;
//   - where Kind, Code and Number do not tell the classes apart, or the provider
//     has more words than the templates use, a classify function.
//
// Hints, limit headers, spoilt bodies, the framing of streams, routes and keys
// are the package's work and need only be named in the Dialect. The tests walk
// the table: run them with -update for the new lines of testdata/table.txt, read
// those, and add the provider's documented bodies to TestDocumentedBodies.
package dialect
