"use strict";
for (const figure of document.querySelectorAll("figure.profile")) flameGraph(figure, () => {});
