import type { Role } from '@parley/domain/access';
import { expectRefusal, fieldsOf } from '../testing/expectations.js';
import { serverPerSuite } from '../testing/servers.js';
import type { TestServer, TestUser } from '../testing/test-server.js';

const { server } = serverPerSuite();
/** Callers and targets: several users of each kind. */
let cast: Readonly<Record<string, TestUser>>;

const NUMBERS = { owner: 100, administrator: 200, moderator: 300, member: 400, guest: 600 } as const;
const ROLES = Object.keys(NUMBERS) as readonly Role[];

type Refusal = Parameters<typeof expectRefusal> extends [unknown, ...infer Rest] ? Rest : never;
const UNAUTHORIZED = { code: 'UNAUTHORIZED_PRINCIPAL' };
const last = (entity: string) => ({
  code: 'CANNOT_DEACTIVATE_LAST_USER',
  is_last_owner: entity !== 'user',
  entity,
});
/** Letters used in the tables; `y` means allowed, `-` not tested. */
const REFUSALS: Readonly<Record<string, Refusal>> = {
  A: ['Must be an organization administrator', UNAUTHORIZED],
  O: ['Must be an organization owner', UNAUTHORIZED],
  I: ['Insufficient permission'],
  G: ['Guests cannot be organization administrators'],
  L: ['The owner permission cannot be removed from the only organization owner.'],
  N: ['No such user'],
  D: ['User is deactivated'],
  K: ['Cannot deactivate the only organization owner'],
  M: ['Cannot deactivate the only organization owner.', last('organization owner')],
  B: ['This endpoint does not accept bot requests.'],
};

/** Rows of a table, split into words. */
const rowsOf = (table: string): readonly (readonly string[])[] =>
  table
    .trim()
    .split('\n')
    .map((line) => line.trim().split(/\s+/));

/** Checks the verdict. Returns true if the operation was allowed. */
async function expectVerdict(
  verdict: string,
  what: string,
  call: () => Promise<Parameters<typeof fieldsOf>[0]>,
): Promise<boolean> {
  const reply = await call();
  try {
    if (verdict === 'y') fieldsOf(reply);
    else expectRefusal(reply, ...REFUSALS[verdict]!);
  } catch (error) {
    throw new Error(`${what}: ${(error as Error).message}`);
  }
  return verdict === 'y';
}

const stored = ({ id }: TestUser) =>
  server.storage.uow.read(server.realmId, async ({ users }) => (await users.find(server.realmId, id))!);
const changeRole = (as: TestUser, { id }: TestUser, role: Role) =>
  server.patch(`/users/${id}`, as, { role: NUMBERS[role] });

/** Restores a role through a role that guests can be given. */
async function restoreRole(target: TestUser, role: Role): Promise<void> {
  for (const each of ['moderator', role] as const) fieldsOf(await changeRole(cast.owner!, target, each));
}

async function makeCast(): Promise<typeof cast> {
  const { desdemona, iago, shiva, hamlet, cordelia, polonius } = server.people;
  const callers = { owner: desdemona, administrator: iago, moderator: shiva, member: hamlet, guest: polonius };
  const made: Record<string, TestUser> = { ...callers, other: cordelia };
  for (const role of ROLES) {
    made[`person:${role}`] = await server.addUser({ email: `${role}@zulip.com`, fullName: `Some ${role}`, role });
    made[`gone:${role}`] = await server.addUser({ email: `gone-${role}@zulip.com`, fullName: `Gone ${role}`, role });
    fieldsOf(await server.delete(`/users/${made[`gone:${role}`]!.id}`, desdemona));
    made[`bot:${role}`] = await server.addBot(hamlet, `bot-${role}`);
    fieldsOf(await changeRole(desdemona, made[`bot:${role}`]!, role));
  }
  return made;
}

describe('permission by rank (users §3.2, §4, §15)', () => {
  beforeAll(async () => {
    cast = await makeCast();
  });

  // Verdicts per target for changing the role to owner, administrator, moderator, member, guest.
  const ROLE_RULES = rowsOf(`
    caller             owner  administrator  moderator  member  guest
    owner              yyyyy  yyyyy          yyyyy      yyyyy   GGyyy
    administrator      yOOOO  Oyyyy          Oyyyy      Oyyyy   OGyyy
    moderator          AAAAA  AAAAA          AAAAA      AAAAA   AAAAA
    member             AAAAA  AAAAA          AAAAA      AAAAA   AAAAA
    guest              AAAAA  AAAAA          AAAAA      AAAAA   AAAAA
    bot:owner          yyyyy  yyyyy          yyyyy      yyyyy   GGyyy
    bot:administrator  yOOOO  Oyyyy          Oyyyy      Oyyyy   OGyyy
    bot:member         AAAAA  AAAAA          AAAAA      AAAAA   AAAAA`);

  it.each(['person', 'gone', 'bot'])('follows the role change table for a %s', async (kind) => {
    const [columns, ...rows] = ROLE_RULES;
    for (const [caller, ...cells] of rows) {
      for (const [column, cell] of cells.entries()) {
        const from = columns![column + 1] as Role;
        const target = cast[`${kind}:${from}`]!;
        // Bots that change their own role are covered by the table of own roles.
        if (target === cast[caller!]) continue;
        for (const [index, verdict] of [...cell].entries()) {
          const to = ROLES[index]!;
          const what = `${caller} makes a ${from} (${kind}) ${to}`;
          const isDone = await expectVerdict(verdict, what, () => changeRole(cast[caller!]!, target, to));
          const { role } = await stored(target);
          if (role !== (isDone ? to : from)) throw new Error(`${what}: they are ${role}`);
          if (role !== from) await restoreRole(target, from);
        }
      }
    }
  });

  // `owner` is the only human owner; the other owner is a bot.
  it.each(
    rowsOf(`
      owner              yLLLL
      person:owner       yyyyy
      administrator      Oyyyy
      moderator          AAAAA
      member             AAAAA
      guest              AAAAA
      bot:owner          yyyyy
      bot:administrator  Oyyyy`),
  )('lets %s change their own role by the table: %s', async (caller, cell) => {
    const self = cast[caller!]!;
    const second = cast['person:owner']!;
    const from = (await stored(self)).role;
    if (caller === 'owner') fieldsOf(await changeRole(self, second, 'administrator'));
    for (const [index, verdict] of [...cell!].entries()) {
      await expectVerdict(verdict, `${caller} becomes ${ROLES[index]}`, () => changeRole(self, self, ROLES[index]!));
      if ((await stored(self)).role !== from) await restoreRole(self, from);
    }
    if (caller === 'owner') fieldsOf(await changeRole(self, second, 'owner'));
  });

  // Target: a bot with the member role, owned by `member`.
  it.each(
    rowsOf(`
      owner              yyyyy
      administrator      Oyyyy
      moderator          IIIII
      member             OAAyA
      other              IIIII
      guest              IIIII
      bot:administrator  Oyyyy
      bot:member         IIIII`),
  )('lets %s change the role of a bot through PATCH /bots by the table: %s', async (caller, cell) => {
    const bot = cast['bot:member']!;
    for (const [index, verdict] of [...cell!].entries()) {
      const role = NUMBERS[ROLES[index]!];
      await expectVerdict(verdict, `${caller} makes a bot ${ROLES[index]}`, () =>
        server.patch(`/bots/${bot.id}`, cast[caller!]!, { role }),
      );
      if ((await stored(bot)).role !== 'member') await restoreRole(bot, 'member');
    }
  });

  const ACCOUNTS = 'owner administrator moderator member guest'.split(' ');

  it.each(
    rowsOf(`
      owner              yyyyy ND
      administrator      Oyyyy ND
      moderator          IIIII ND
      member             IIIII ND
      guest              IIIII ND
      bot:owner          yyyyy ND
      bot:administrator  Oyyyy ND
      bot:member         IIIII ND`),
  )('lets %s deactivate users of each role by the table: %s; bots and deactivated users: %s', async (...row) => {
    const [caller, cell, others] = row as [string, string, string];
    const targets = [...ACCOUNTS.map((role) => cast[`person:${role}`]!), cast['bot:guest']!, cast['gone:guest']!];
    for (const [index, verdict] of [...(cell + others)].entries()) {
      const target = targets[index]!;
      const what = `${caller} deactivates ${target.user.fullName}`;
      const isDone = await expectVerdict(verdict, what, () => server.delete(`/users/${target.id}`, cast[caller]!));
      if (isDone) fieldsOf(await server.post(`/users/${target.id}/reactivate`, cast.owner!));
      expect((await stored(target)).isActive).toBe(target !== cast['gone:guest']);
    }
  });

  it.each(
    rowsOf(`
      owner          K M
      administrator  y y
      moderator      I y
      member         I y
      guest          I y
      bot:member     N B`),
  )('lets %s deactivate themselves by id: %s, and by /users/me: %s', async (...row) => {
    const [caller, byId, byMe] = row as [string, string, string];
    const self = cast[caller]!;
    if (caller === 'owner') fieldsOf(await changeRole(self, cast['person:owner']!, 'administrator'));
    for (const [verdict, path] of [
      [byId, `/users/${self.id}`],
      [byMe, '/users/me'],
    ] as const) {
      const isDone = await expectVerdict(verdict, `${caller}: ${path}`, () => server.delete(path, self));
      // Deactivation includes the user's bots.
      for (const { id, user } of isDone ? [self, ...Object.values(cast)] : []) {
        const isBack = id === self.id || user.bot?.ownerId === self.id;
        if (isBack) fieldsOf(await server.post(`/users/${id}/reactivate`, cast.owner!));
      }
    }
    if (caller === 'owner') fieldsOf(await changeRole(self, cast['person:owner']!, 'owner'));
  });

  // Targets: bots of each role, owned by `member`.
  const BOT_CHANGES: Readonly<Record<string, (bot: TestUser, as: TestUser) => ReturnType<TestServer['get']>>> = {
    'reads the key': ({ id }, as) => server.get(`/bots/${id}/api_key`, as),
    'regenerates the key': ({ id }, as) => server.post(`/bots/${id}/api_key/regenerate`, as),
    'takes over': ({ id }, as) => server.patch(`/bots/${id}`, as, { bot_owner_id: cast.member!.id }),
    renames: ({ id }, as) => server.patch(`/bots/${id}`, as, { full_name: `Bot ${id}` }),
    'changes the URL': ({ id }, as) => server.patch(`/bots/${id}`, as, { service_payload_url: '""' }),
    'changes the default channel': ({ id }, as) => server.patch(`/bots/${id}`, as, { default_sending_stream: '' }),
    deactivates: ({ id }, as) => server.delete(`/bots/${id}`, as),
    reactivates: ({ id }, as) => server.post(`/users/${id}/reactivate`, as),
  };

  it.each(
    rowsOf(`
      owner              yyyyy
      administrator      Oyyyy
      moderator          IIIII
      member             OAIyy
      other              IIIII
      guest              IIIII
      bot:administrator  Oyyyy
      bot:moderator      IIIII`),
  )('lets %s administer bots of each role by the table: %s', async (caller, cell) => {
    for (const [index, verdict] of [...cell!].entries()) {
      const bot = cast[`bot:${ROLES[index]}`]!;
      if (bot === cast[caller!]) continue;
      for (const [what, call] of Object.entries(BOT_CHANGES)) {
        await expectVerdict(verdict, `${caller} ${what} a bot (${ROLES[index]})`, () => call(bot, cast[caller!]!));
      }
      const { api_key: apiKey } = fieldsOf(await server.get(`/bots/${bot.id}/api_key`, cast.owner!));
      cast = { ...cast, [`bot:${ROLES[index]}`]: { ...bot, apiKey } };
      // Administrators may rename other users, but not bots with more rights.
      const change = { full_name: `Renamed ${bot.id}` };
      const byAnyRole = ['owner', 'administrator', 'bot:administrator'].includes(caller!) ? verdict : 'A';
      await expectVerdict(byAnyRole, `${caller} renames a user`, () =>
        server.patch(`/users/${bot.id}`, cast[caller!]!, change),
      );
    }
  });

  it.each(
    rowsOf(`
      owner              yyyyy y
      administrator      yyyyy y
      moderator          IIIII I
      member             IIIII I
      other              IIIII I
      guest              IIIII I
      bot:administrator  yyyyy y`),
  )('lets %s reactivate users of each role by the table: %s; a bot of the member: %s', async (...row) => {
    const [caller, cell, bot] = row as [string, string, string];
    for (const [index, verdict] of [...cell].entries()) {
      const target = cast[`gone:${ACCOUNTS[index]}`]!;
      const what = `${caller} brings back ${target.user.fullName}`;
      const call = () => server.post(`/users/${target.id}/reactivate`, cast[caller]!);
      if (await expectVerdict(verdict, what, call)) fieldsOf(await server.delete(`/users/${target.id}`, cast.owner!));
    }
    const own = cast['bot:moderator']!;
    fieldsOf(await server.delete(`/bots/${own.id}`, cast.owner!));
    await expectVerdict(bot, `${caller} brings back a bot`, () =>
      server.post(`/users/${own.id}/reactivate`, cast[caller]!),
    );
    fieldsOf(await server.post(`/users/${own.id}/reactivate`, cast.owner!));
  });
});
