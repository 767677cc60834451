import { ImportReports } from '@parley/domain/exports';
import { SweepFiles, UnneededFiles } from '@parley/domain/files';
import { JobRunner, type UnitOfWork } from '@parley/domain/kernel';
import { ErasePerson, ReplayErasures } from '@parley/domain/membership';
import { UnregisterTokens } from '@parley/domain/push';
import { PurgeArchive, RemoveQuotesFromDrafts, RemoveTextFromReminders } from '@parley/domain/writing';
import { membersOfDto } from '@parley/http';
import { FixedClock, MemoryBlobStore } from '@parley/testkit';
import {
  CanaryWords,
  LIKE_OTHERS,
  NO_FREE_TEXT,
  nameOf,
  pathOf,
  ROUTES,
  STORING,
  STORING_NOTHING,
  textsOf,
  writeWords,
} from '../testing/canary-words.js';
import { fieldsOf, type Wire } from '../testing/expectations.js';
import { runJobs } from '../testing/jobs.js';
import { type ServerSnapshot, TestServer, type TestUser } from '../testing/test-server.js';

const words = new CanaryWords();
let snapshot: ServerSnapshot;
let files: MemoryBlobStore;
let person: TestUser;
let pollId: number;
let withoutWord: readonly string[];
let server: TestServer;

const OPTIONS = { webPush: 'mailto:ops@example.com' };
const DAY = 86_400;

beforeAll(async () => {
  files = new MemoryBlobStore(new FixedClock());
  const written = await TestServer.start({ ...OPTIONS, blobs: files });
  const result = await writeWords(written, words);
  ({ person, withoutWord } = result);
  ({ pollId } = result.scene);
  snapshot = await written.closeAsSnapshot();
});
afterEach(() => server?.close());

/** Starts a server with all words, like a restored backup. */
async function open(): Promise<void> {
  const blobs = new MemoryBlobStore(new FixedClock());
  for (const { key } of await files.list(null, 1000)) {
    await blobs.put(key, files.read(key, { start: 0, end: (await files.sizeOf(key))! }));
  }
  server = await TestServer.start({ ...OPTIONS, blobs, snapshot });
}

async function erase(everythingWritten: boolean): Promise<void> {
  await server.parley.users.erase({ realm: 'zulip', userId: person.id }, { everythingWritten });
  await runErasure();
}

async function runErasure(): Promise<void> {
  for (const job of [ErasePerson, RemoveTextFromReminders, RemoveQuotesFromDrafts, UnregisterTokens] as const) {
    await runJobs(server, server.parley.useCase(job as never));
  }
  // The erasure waits for reminders.
  server.clock.advance(10);
  await runJobs(server, server.parley.useCase(ErasePerson));
}

/** Does the work of more than a week, after which clients must have read their events. */
async function passDays(): Promise<void> {
  server.clock.advance(8 * DAY);
  await server.sweepQueues();
  await server.parley.useCase(SweepFiles).execute({ keepDetachedSeconds: 0 });
}

async function stored() {
  await server.storage.eraseDeleted();
  const blobs = (server.parts.blobs as MemoryBlobStore)
    .contents()
    .map((bytes) => Buffer.from(bytes).toString('latin1'));
  return words.in([await server.storage.stored(), ...blobs].join('\n'));
}

const expectOnly = async (...fates: readonly string[]) =>
  expect((await stored()).filter(({ fate }) => !fates.includes(fate)).map(({ where }) => where)).toEqual([]);

describe('the canary words', () => {
  it('are in every text parameter of every operation', () => {
    const taking = ROUTES.filter((route) => textsOf(route).length > 0 || !['form', 'long'].includes(route.body));
    const names = taking.filter(({ method }) => method !== 'GET').map(nameOf);
    const isListed = (name: string) => name in STORING || STORING_NOTHING.has(name) || LIKE_OTHERS.test(name);
    expect(names.filter((name) => !isListed(name))).toEqual([]);
    expect(withoutWord.filter((each) => !NO_FREE_TEXT.has(each.split(' ')[2]!))).toEqual([
      // Hexadecimal; the choices of a list; the address of the person.
      'POST /users/me/apns_device_token token',
      'PATCH /realm/profile_fields/:field_id field_data',
      'PATCH /users/:email email',
    ]);
    expect(words.placed.size).toBeGreaterThan(60);
  });

  it('are stored if their operations store texts', async () => {
    await open();
    const found = new Set(await stored());
    expect([...words.placed.values()].filter((word) => !found.has(word)).map(({ where }) => where)).toEqual([]);
  });

  it('are stored nowhere if they are only read', async () => {
    server = await TestServer.start();
    const reader = server.people.desdemona;
    const used = new CanaryWords();
    for (const route of ROUTES.filter((each) => each.method === 'GET' || STORING_NOTHING.has(nameOf(each)))) {
      if (route.longPoll) continue;
      const texts = textsOf(route);
      const fields = Object.fromEntries(
        membersOfDto(route.dto).map(({ name, type }) => {
          const word = used.place(`${nameOf(route)} ${name}`, 'nothing');
          if (!texts.some((each) => each.split('.')[0] === name)) return [name, 1];
          return [name, (type.schema as { readonly type?: unknown }).type === 'array' ? [word] : word];
        }),
      );
      const as = route.auth === 'user' ? reader : null;
      await server.request(route.method, pathOf(route, fields), { as, params: fields });
    }
    expect(used.placed.size).toBeGreaterThan(100);
    await server.storage.eraseDeleted();
    expect(used.in(await server.storage.stored())).toEqual([]);
  });
});

describe('the erasure of the author', () => {
  it('leaves only words of messages and of the organization', async () => {
    await open();
    await erase(false);
    await passDays();
    await expectOnly('written', 'organization');
  });

  it('leaves only words of the organization if it includes everything written', async () => {
    await open();
    await erase(true);
    await passDays();
    await expectOnly('organization');
  });

  it('leaves only words of the organization after its replay in an older backup', async () => {
    await open();
    const { uuid: realmUuid } = await server.storage.uow.read(server.realmId, (r) => r.realms.get(server.realmId));
    const entry = { realmId: server.realmId, realmUuid, personId: person.id, requestedAt: server.clock.now() };
    await server.parley.useCase(ReplayErasures).execute([{ ...entry, everythingWritten: true }]);
    await runErasure();
    await passDays();
    await expectOnly('organization');
  });
});

/** Lets the process die: at the end of a unit of work before its commit, or after the commit. */
function dyingAfter(uow: UnitOfWork, units: number, isCommitted: boolean): UnitOfWork {
  let left = units;
  return {
    ...uow,
    read: (...args) => uow.read(...args),
    readAcross: (...args) => uow.readAcross(...args),
    async write(realmId, work, options) {
      const isLast = left-- <= 1;
      const result = await uow.write(
        realmId,
        async (tx) => {
          const value = await work(tx);
          if (isLast && !isCommitted) throw new Error('killed');
          return value;
        },
        options,
      );
      if (isLast) throw new Error('killed');
      return result;
    },
    writeAcross: (work, options) => (left > 0 ? uow.writeAcross(work, options) : Promise.reject(new Error('killed'))),
  };
}

/** Runs the job until the process dies. Returns false if it ends before. */
async function dies(units: number, isCommitted: boolean): Promise<boolean> {
  const uow = dyingAfter(server.storage.uow, units, isCommitted);
  const { clock, mailer, parley } = server;
  const job = new ErasePerson(uow, parley.useCase(UnneededFiles), clock, mailer, parley.useCase(ImportReports));
  let hasFailed = false;
  const report = () => {
    hasFailed = true;
  };
  const runner = new JobRunner(job, { uow, clock: server.clock, report });
  const isDue = async () => ((await runner.nextDueAt()) ?? Number.POSITIVE_INFINITY) <= server.clock.now();
  while (!hasFailed && (await isDue())) {
    await runner.run().catch(report);
    await runner.settle();
  }
  return hasFailed;
}

/** Set by `npm run endurance`. */
const IS_LONG = process.env.HOSTILE_LOAD === 'long';

describe.each([false, true])('an erasure whose process dies (after the commit: %s)', (isCommitted) => {
  it('continues at any unit of work and leaves only words of the organization', async () => {
    await open();
    await server.parley.users.erase({ realm: 'zulip', userId: person.id }, { everythingWritten: true });
    await runJobs(server, server.parley.useCase(RemoveTextFromReminders));
    let deaths = 0;
    for (let units = 1; await dies(units, isCommitted); units++) {
      deaths++;
      // The lease of the job expires.
      server.clock.advance(3600);
    }
    expect(deaths).toBeGreaterThan(5);
    await runErasure();
    await passDays();
    await expectOnly('organization');
  });

  (IS_LONG ? it : it.skip)(
    'dies once at each unit of work',
    async () => {
      for (let units = 1, hasDied = true; hasDied; units++) {
        await open();
        await server.parley.users.erase({ realm: 'zulip', userId: person.id }, { everythingWritten: true });
        await runJobs(server, server.parley.useCase(RemoveTextFromReminders));
        hasDied = await dies(units, isCommitted);
        server.clock.advance(3600);
        await runErasure();
        await passDays();
        await expectOnly('organization');
        await server.close();
      }
    },
    600_000,
  );
});

/** Lists of objects, with the field of an object's id and the path that deletes one. */
const DELETABLE: Readonly<Record<string, readonly [list: string, id: string, path?: string]>> = {
  '/drafts': ['drafts', 'id'],
  '/saved_snippets': ['saved_snippets', 'id'],
  '/scheduled_messages': ['scheduled_messages', 'scheduled_message_id'],
  '/reminders': ['reminders', 'reminder_id'],
  '/navigation_views': ['navigation_views', 'fragment'],
  '/attachments': ['attachments', 'id'],
  '/realm/linkifiers': ['linkifiers', 'id', '/realm/filters'],
  '/realm/domains': ['domains', 'domain'],
};
/** Words of these objects; a topic stays in the settings of its followers, and the id of a client until the send expires. */
const DELETED =
  /^(message|\w+ \/(messages|submessage|drafts|saved_snip|scheduled|reminders|navigation|user_uploads|realm\/filters|realm\/domains).* (?!topic$|local_id$)\S+)$/;

it('no word of deleted objects is left after the purge', async () => {
  await open();
  const { iago, desdemona } = server.people;
  for (const [list, [name, id, path = list]] of Object.entries(DELETABLE)) {
    for (const each of fieldsOf(await server.get(list, person))[name] as Wire[]) {
      fieldsOf(await server.delete(`${path}/${encodeURIComponent(each[id])}`, person));
    }
  }
  const narrow = JSON.stringify([['sender', person.email]]);
  const page = fieldsOf(
    await server.get('/messages', iago, { narrow, anchor: 'newest', num_before: 50, num_after: 0 }),
  );
  for (const id of [pollId, ...(page.messages as Wire[]).map((message) => message.id)]) {
    fieldsOf(await server.delete(`/messages/${id}`, desdemona));
  }
  await runJobs(server, server.parley.useCase(RemoveTextFromReminders));
  await runJobs(server, server.parley.useCase(RemoveQuotesFromDrafts));
  await passDays();
  await server.parley.useCase(PurgeArchive).execute({ keepSeconds: 0 });
  await passDays();
  expect((await stored()).map(({ where }) => where).filter((where) => DELETED.test(where))).toEqual([]);
  expect([...words.placed.values()].filter(({ where }) => DELETED.test(where)).length).toBeGreaterThan(25);
});

/** Password hashes with their salts, seeds, and fingerprints of keys. */
const RANDOM = /\$scrypt\$[\w=,]+\$[\w+/]+\$[\w+/]+|\b[0-9a-f]{32}\b|(?<![\w-])[\w-]{43}(?![\w-])/g;

/** Returns all rows after the erasure of a person with other words. */
async function rowsAfterErasure(variant: string) {
  server = await TestServer.start(OPTIONS);
  ({ person } = await writeWords(server, new CanaryWords(variant)));
  await erase(true);
  await passDays();
  await server.storage.eraseDeleted();
  // The identity of the database, the number of bytes that the log ever had, and progress of the search index, which
  // depends on timers.
  const { server_fact, event_log_head, search_backlog, ...rows } = await server.storage.rows();
  await server.close();
  return rows;
}

it('organizations that differ only in the words of an erased person have equal rows', async () => {
  const [one, other] = [await rowsAfterErasure(''), await rowsAfterErasure('xvwkqtr')];
  expect(Object.keys(one).length).toBeGreaterThan(60);
  const [table, otherTable] = [one, other].map((rows) => JSON.stringify(rows, null, 1).replace(RANDOM, ''));
  expect(table).toBe(otherTable);
});
