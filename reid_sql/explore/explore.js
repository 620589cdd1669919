// Without this script the form works by its button. With it, only the parts that differ are replaced.
const form = document.getElementById("choices");
let asked = 0;
async function show(address, body, push) {
  const mine = ++asked, answer = document.getElementById("answer");
  answer.setAttribute("aria-busy", "true");
  try {
    const response = await fetch(address, body ? { method: "POST", body } : {});
    const text = (await response.text()).replace(/<style[^]*?<\/style>/, "");
    const page = new DOMParser().parseFromString(text, "text/html");
    if (mine !== asked) return;
    const focused = document.activeElement && document.activeElement.id;
    for (const part of page.querySelectorAll("tr[id], #options, #answer")) {
      const here = document.getElementById(part.id);
      if (here && here.innerHTML !== part.innerHTML) here.innerHTML = part.innerHTML;
    }
    form.elements.from.value = page.querySelector("input[name=from]").value;
    if (push) history.pushState(null, "", response.url);
    if (focused && document.getElementById(focused)) document.getElementById(focused).focus();
  } catch {
    if (mine === asked) answer.textContent = "reid-sql does not answer: start it again.";
  }
  answer.removeAttribute("aria-busy");
}
function choose(button) {
  show(form.action, new URLSearchParams(new FormData(form, button)), true);
}
form.addEventListener("change", () => choose(null));
form.addEventListener("submit", (event) => { event.preventDefault(); choose(event.submitter); });
addEventListener("popstate", () => show(location.href, null, false));
