// The chat at /chat. Its people are the people of your log-in, by their ids.
import { createParley } from 'parley';
import { type Person, personOf } from './log-in.js';

export const port = Number(process.env.PORT ?? 3000);
const url = `http://localhost:${port}/chat`;
const realm = 'team';

export const parley = await createParley({
  database: 'sqlite:data/chat.db',
  url,
  // Called for every request without an API key. null: nobody is logged in.
  authenticate: async (request) => {
    const person = personOf(request);
    return person && { realm, externalId: person.id };
  },
  // Log-in page of the application, for the chat and phone apps; `next` is the address to return to.
  logInUrl: `http://localhost:${port}/?next={next}`,
  logInButton: { name: 'My application' },
});
await parley.realms.ensure({ name: realm, title: 'My team', isStarted: true });

let hasOwner = (await parley.users.list({ realm }).toArray()).length > 0;

/** Call it at each log-in: adds the person to the chat, or updates the name. The first person is the owner. */
export async function enterChat({ id, name }: Person): Promise<void> {
  const role = hasOwner ? {} : ({ role: 'owner' } as const);
  hasOwner = true;
  await parley.users.upsert({ realm, externalId: id, name, ...role });
}

/** Address after a log-in: the one that the chat asks for, or the start page. */
export const returnAddress = (next?: string | null): string => (next?.startsWith(`${url}/`) ? next : '/');
