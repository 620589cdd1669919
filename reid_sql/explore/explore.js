// Without this script the form works by its button. With it, only the parts that differ are replaced.
const form = document.getElementById("choices");
const ALL = "tr[id], #options, #search, #answer";
let asked = 0, timer;
async function show(address, body, push, parts = ALL) {
  clearTimeout(timer);
  const mine = parts === ALL ? ++asked : asked, answer = document.getElementById("answer");
  if (parts === ALL) answer.setAttribute("aria-busy", "true");
  try {
    const response = await fetch(address, body ? { method: "POST", body } : {});
    const text = (await response.text()).replace(/<style[^]*?<\/style>/, "");
    const page = new DOMParser().parseFromString(text, "text/html");
    if (mine !== asked) return;
    const focused = document.activeElement && document.activeElement.id;
    if (parts !== ALL && page.getElementById("progress")) parts = "#progress"; // the button stays under the mouse
    for (const part of page.querySelectorAll(parts)) {
      const here = document.getElementById(part.id);
      if (here && here.innerHTML !== part.innerHTML) here.innerHTML = part.innerHTML;
    }
    form.elements.from.value = page.querySelector("input[name=from]").value;
    if (push && response.url !== location.href) history.pushState(null, "", response.url);
    if (focused && document.getElementById(focused)) document.getElementById(focused).focus();
  } catch {
    if (mine === asked) answer.textContent = "reid-sql does not answer: start it again.";
  }
  if (mine === asked && parts === ALL) answer.removeAttribute("aria-busy");
  watch();
}
// Of a search only its own part is asked for, once a second, until it has ended.
function watch() {
  const isBusy = document.querySelector("#answer[aria-busy]");
  if (!isBusy && document.getElementById("progress")) {
    timer = setTimeout(() => show(location.href, null, false, "#search"), 1000);
  }
}
function choose(button) {
  show(form.action, new URLSearchParams(new FormData(form, button)), true);
}
form.addEventListener("change", () => choose(null));
form.addEventListener("submit", (event) => { event.preventDefault(); choose(event.submitter); });
// What was typed and refused, or not yet sent, is not of the choice that the browser goes back to.
addEventListener("popstate", () => { form.reset(); show(location.href, null, false); });
watch();
