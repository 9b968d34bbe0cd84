{
  const TRIES = 3;
  const [clock, when, live, time] = ["clock", "when", "live", "time"].map((id) => document.getElementById(id));
  const main = document.querySelector("main");
  const said = main.dataset;
  const { lang } = document.documentElement;
  if (time) {
    const parts = { weekday: "long", month: "long", day: "numeric", hour: "numeric", minute: "2-digit", timeZoneName: "short" };
    time.textContent = new Date(time.dateTime).toLocaleString(lang, parts);
  }
  const key = "penstock " + location.pathname + location.search;
  let tries = TRIES;
  if (said.self) {
    try {
      const again = performance.getEntriesByType("navigation")[0].type === "reload";
      const counted = (again && +sessionStorage.getItem(key)) || 0;
      sessionStorage.setItem(key, counted);
      tries = counted;
    } catch {}
  }
  const byItself = tries < TRIES;
  const wait = said.wait * 1000;
  const end = Date.now() + wait;
  const say = (text) => (live.textContent = text);

  const reload = () => {
    try {
      sessionStorage.setItem(key, tries + 1);
      location.reload();
    } catch {}
  };
  const comeBack = () => {
    if (document.hidden) return document.addEventListener("visibilitychange", comeBack, { once: true });
    setTimeout(reload, 200 + Math.random() * Math.min(5000, wait / 10 + 800));
  };
  const tick = () => {
    const left = Math.max(0, Math.ceil((end - Date.now()) / 1000));
    const two = (number) => String(number).padStart(2, "0");
    const minutes = Math.floor(left / 60);
    clock.textContent = (minutes < 60 ? minutes : Math.floor(minutes / 60) + ":" + two(minutes % 60)) + ":" + two(left % 60);
    clock.classList.toggle("long", minutes >= 60);
    clock.style.setProperty("--left", (left * 1000) / wait);
    if (left === 0) {
      main.classList.add("now");
      when.hidden = false;
      when.textContent = byItself ? said.again : said.now;
      say(when.textContent);
      return byItself && comeBack();
    }
    if (left * 1000 < wait && (left === 10 || left === 60)) {
      say(said.left.replace("{}", new Intl.NumberFormat(lang, { style: "unit", unit: "second", unitDisplay: "long" }).format(left)));
    }
    setTimeout(tick, (end - Date.now()) % 1000 || 1000);
  };
  if (wait > 0) {
    const plan = byItself ? said.self : (said.over ?? "");
    clock.hidden = false;
    if (time) when.append(lang === "en" ? " " : "", plan);
    else when.textContent = plan;
    when.hidden = !when.textContent;
    tick();
  }
}
