// Package tcp turns packets into connections and judgements. A Tracker takes the packets of one capture in file order and
// keeps a bounded table of live connections, each a few fixed structs of 1.6 KiB; Finish returns the Capture, a
// model of bounded size that the rules of this package judge and every view shows.
//
// What a rule needs to know of single packets is decided while the packet passes (Mark) and summed in the connection, so
// that a capture is read once whatever the number of rules.
package tcp
