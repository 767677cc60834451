import { headers } from 'next/headers';
import type {} from 'parley/web/element-react';
import { personOf } from '../log-in';

export default async function Page({ searchParams }: { readonly searchParams: Promise<{ readonly next?: string }> }) {
  const cookie = (await headers()).get('cookie') ?? '';
  const person = personOf({ headers: { cookie } });
  if (!person) {
    const { next = '' } = await searchParams;
    return (
      <form method="post" action="/log-in">
        <input type="hidden" name="next" value={next} />
        <label>
          Name <input name="name" required maxLength={60} />
        </label>{' '}
        <button type="submit">Log in</button>
      </form>
    );
  }
  return (
    <>
      <p>
        Hello, {person.name}. The chat also has <a href="/chat/">its own page</a>.
      </p>
      <script type="module" src="/chat/web/element.js" />
      <parley-chat tools="simple" style={{ height: '70vh' }} />
    </>
  );
}
