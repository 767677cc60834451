import { personOf } from '../log-in.js';

export const loader = ({ request }) => ({
  person: personOf({ headers: { cookie: request.headers.get('cookie') ?? undefined } }),
  next: new URL(request.url).searchParams.get('next') ?? '',
});

export default function Home({ loaderData: { person, next } }) {
  return (
    <>
      <h1>My application</h1>
      {person ? (
        <>
          <p>
            Hello, {person.name}. The chat also has <a href="/chat/">its own page</a>.
          </p>
          <script type="module" src="/chat/web/element.js" async />
          <parley-chat tools="simple" style={{ height: '70vh' }} />
        </>
      ) : (
        <form method="post" action="/log-in">
          <input type="hidden" name="next" value={next} />
          <label>
            Name <input name="name" required maxLength={60} />
          </label>
          <button type="submit">Log in</button>
        </form>
      )}
    </>
  );
}
