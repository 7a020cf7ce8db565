// Package source finds and opens what the user names (files, directories, standard input, members of tar and zip
// archives, compressed or not), reads it as a stream of bytes or of lines with their places, and keeps the ledger of
// what was lost on the way. It knows nothing of the formats.
package source
