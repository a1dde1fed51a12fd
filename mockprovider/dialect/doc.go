// Package dialect writes and reads the replies of LLM providers as bytes. A
// Dialect is the form of one provider: it writes a compact wire.Reply as status,
// headers and body, whole or as a stream, reads such bytes back, and reads the
// requests of clients. The package has no clocks and no network.
//
// ByName returns a built-in dialect. CodeInBody describes a provider of your own
// that replies with HTTP 200 and a business code; it can be written in scenario
// files. Detect and DetectStream find the dialect of a reply from an unknown
// provider.
//
// For every reply that a dialect can express (see Expressible), each wire.Reader
// has the same outcome from the bytes as from the compact reply.
//
// # Adding a dialect
//
// A provider that replies with HTTP 200 to every request is a CodeInBody. Any
// other dialect is one file, and one line in the table in dialect.go. The file
// has
//
//   - a function that returns the Dialect: names, an example for users, a
//     template for each class from wire.OK to wire.Timeout, limit headers, routes,
//     keys. If the provider has no form for a class, the template has in As the
//     class that it reads as, and the Kind and Code of that class. A template
//     with a Number is a business code (wire.CodeBody). The comment of the
//     function lists the facts that are not verified;
//   - a codec: a value without state whose methods write and read the bodies. A
//     codec with the answers of OpenAI's chat completions embeds chat, with
//     extend for additional fields. It adds appendError, appendStreamError,
//     readBody, readFrame and likeness, and calls readErrorOrAnswer, or
//     readAnswer for a body that is not an error; readError reads an error object
//     {"message","type","code"}. Each error object embeds hintFields, so that a
//     scenario can use every form of hints;
//   - what differs from the usual: hidesModel, bothUnits, kindHeader, another
//     framing of streams, and so on; see Dialect;
//   - a function classify, if Kind, Code and Number do not determine the class,
//     or if the provider has codes that no template has.
//
// The package does the rest: hints, limit headers, truncated and other faulty
// bodies, the framing of streams, routes and keys. The tests include every
// dialect of the table: run them with -update for the new lines of
// testdata/table.txt, read these, and add the documented bodies of the provider
// to TestDocumentedBodies.
package dialect
