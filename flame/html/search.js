// searchFor returns what tells whether a name is searched for: as a regular expression, with regard to case only if it
// holds a capital, or as it is written, so that push_back(int&&) finds itself. A text that is no regular expression is
// looked for as it is written, and error says why. Without a text it returns null.
function searchFor(text) {
  "use strict";
  if (!text) return null;
  const exact = /[A-Z]/.test(text), fold = (name) => exact ? name : name.toLowerCase();
  let pattern = null, error = "";
  try {
    pattern = new RegExp(text, exact ? "" : "i");
  } catch (e) {
    error = e.message;
  }
  return { test: (name) => pattern !== null && pattern.test(name) || fold(name).includes(text), error };
}
