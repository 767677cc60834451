import type { Caller, ChannelId } from '@parley/domain/kernel';
import { GetMessages } from '@parley/domain/messages';
import { SendMessage } from '@parley/domain/writing';
import { type Chat, createParley, type Parley } from '@parley/server';
import { SECRET } from '../harness/parley-server.js';
import { contentOf } from '../worlds/history.js';
import { answerCalls } from './answer-calls.js';

export interface OpenCall {
  readonly database: string;
  /** Parley's ids of the caller and all other users. */
  readonly userIds: readonly number[];
  readonly channelId: ChannelId;
}

export type Way = 'facade' | 'direct';

const EXTERNAL_ID = 'u1';
const REALM = 'bench';
const IN_FLIGHT = 16;
const PAGE = 20;

let parley: Parley;
let opened: OpenCall;
let caller: Caller;

/** Chat as an application obtains it for each request. */
const chat = (): Chat => parley.as({ realm: REALM, externalId: EXTERNAL_ID });

const SENDS: Readonly<Record<Way, (n: number) => Promise<unknown>>> = {
  facade: (n) => chat().messages.send({ channel: opened.channelId, topic: 'bench', content: contentOf(n) }),
  direct: (n) =>
    parley.useCase(SendMessage).execute(caller, {
      to: { kind: 'channelId', id: opened.channelId },
      topic: 'bench',
      content: contentOf(n),
      isReadBySender: true,
      echo: null,
    }),
};

const PAGES: Readonly<Record<Way, () => Promise<unknown>>> = {
  facade: () => chat().messages.list({ channel: opened.channelId, last: PAGE }).toArray(),
  direct: () =>
    parley.useCase(GetMessages).execute(
      caller,
      {
        narrow: [{ operator: 'channel', operand: opened.channelId, negated: false }],
        select: { anchor: { kind: 'newest' }, before: PAGE, after: 0, includeAnchor: false },
      },
      async (list, hydrate) => hydrate(list.entries.map(({ id }) => id)),
    ),
};

/** Operations per second of CPU time, with several in progress; disk activity is the same for both contenders. */
async function rateOf(count: number, work: (n: number) => Promise<unknown>): Promise<number> {
  let begun = 0;
  const before = process.cpuUsage();
  const one = async () => {
    while (begun < count) await work(begun++);
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, one));
  const { user, system } = process.cpuUsage(before);
  return count / ((user + system) / 1_000_000);
}

answerCalls({
  async open(call: OpenCall): Promise<void> {
    opened = call;
    parley = await createParley({ database: `sqlite:${call.database}`, url: 'http://localhost', secret: SECRET });
    await parley.users.link({ realm: REALM, externalId: EXTERNAL_ID, userId: call.userIds[0]! });
    for (const userId of call.userIds.slice(1)) {
      await parley.users.link({ realm: REALM, externalId: `other ${userId}`, userId });
    }
    caller = await chat().caller();
  },
  sends: ({ way, count }: { readonly way: Way; readonly count: number }) => rateOf(count, SENDS[way]),
  pages: ({ way, count }: { readonly way: Way; readonly count: number }) => rateOf(count, PAGES[way]),
});
