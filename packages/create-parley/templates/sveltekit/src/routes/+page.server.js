import { personOf } from '../../log-in.js';

export const load = ({ request, url }) => ({
  person: personOf({ headers: { cookie: request.headers.get('cookie') ?? undefined } }),
  next: url.searchParams.get('next') ?? '',
});
