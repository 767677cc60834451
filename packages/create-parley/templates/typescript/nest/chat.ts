// The chat at /chat. Its people are the people of your log-in, by their ids.
import { Global, Inject, Module } from '@nestjs/common';
import type { Parley } from 'parley';
import { type Person, personOf } from './log-in.js';

export const port = Number(process.env.PORT ?? 3000);
const url = `http://localhost:${port}/chat`;
const realm = 'team';

const chat = {
  provide: 'PARLEY',
  useFactory: async (): Promise<Parley> => {
    // Parley is an ES module, and Nest's applications are CommonJS.
    const { createParley } = await import('parley');
    const parley = await createParley({
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
    return parley;
  },
};

@Global()
@Module({ providers: [chat], exports: [chat] })
export class ChatModule {
  constructor(@Inject('PARLEY') private readonly parley: Parley) {}

  // Nest closes its HTTP server later, which waits for requests, such as polls of the chat.
  beforeApplicationShutdown(): Promise<void> {
    return this.parley.close();
  }
}

/** Call it at each log-in: adds the person to the chat, or updates the name. The first person is the owner. */
export async function enterChat(parley: Parley, { id, name }: Person): Promise<void> {
  const hasOwner = (await parley.users.list({ realm }).toArray()).length > 0;
  await parley.users.upsert({ realm, externalId: id, name, ...(!hasOwner && { role: 'owner' }) });
}

/** Address after a log-in: the one that the chat asks for, or the start page. */
export const returnAddress = (next?: string): string => (next?.startsWith(`${url}/`) ? next : '/');
