const escapeHtml = (text) => String(text).replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`);

/** The start page: a log-in, or the chat. */
export const page = (person, next = '') => `<!doctype html>
<html lang="en">
  <meta charset="utf-8">
  <meta name="viewport" content="width=device-width, initial-scale=1">
  <title>My application</title>
  <style>
    body { font-family: system-ui, sans-serif; margin: 2rem auto; max-width: 60rem; padding: 0 1rem; }
    parley-chat { height: 70vh; }
  </style>
  <h1>My application</h1>
  ${
    person
      ? `<p>Hello, ${escapeHtml(person.name)}. The chat also has <a href="/chat/">its own page</a>.</p>
  <script type="module" src="/chat/web/element.js"></script>
  <parley-chat tools="simple"></parley-chat>`
      : `<form method="post" action="/log-in">
    <input type="hidden" name="next" value="${escapeHtml(next)}">
    <label>Name <input name="name" required maxlength="60" autofocus></label>
    <button type="submit">Log in</button>
  </form>`
  }
</html>
`;
