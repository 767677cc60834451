import { aUser, createFixture, FakeApiKeyMint, FakeRenderer, fakeRealmUrls } from '@parley/testkit';
import type { ReportProblem } from '../kernel/ports.js';
import { Admission } from '../membership/admission.js';
import { SetUserActive, SetUserEmail, UnlinkAccount } from '../membership/operate-accounts.use-cases.js';
import type { StatedRole } from '../membership/stated-roles.js';
import { SystemMessages } from '../writing/system-messages.js';
import { type DirectoryPerson, directoryMethod, type PeopleDirectory } from './directories.js';
import { SyncDirectory, VerifyDirectoryPassword } from './directories.use-cases.js';

const person = (subject: string, more: Partial<DirectoryPerson> = {}): DirectoryPerson => ({
  subject,
  email: `${subject}@example.com`,
  fullName: subject,
  role: null,
  ...more,
});
const stated = (role: StatedRole['role']): StatedRole => ({ role, sparesGuests: false });

async function cast() {
  const fixture = await createFixture(aUser({ name: 'owner', role: 'owner', email: 'owner@example.com' }));
  const { uow, clock, realm } = fixture;
  let entries: readonly DirectoryPerson[] | Error = [];
  const list = async () => {
    if (entries instanceof Error) throw entries;
    return entries;
  };
  const directory: PeopleDirectory = {
    name: 'company',
    realm: realm.stringId,
    createsPeople: true,
    syncMinutes: 0,
    hasPictures: false,
    authenticate: async (email) => (await list()).find((it) => it.email === email) ?? null,
    listPeople: list,
    findPicture: async () => null,
    check: async () => '',
  };
  const systemMessages = new SystemMessages(new FakeRenderer(), fakeRealmUrls, clock);
  const admission = new Admission(new FakeApiKeyMint(), systemMessages, clock);
  const reported: unknown[] = [];
  const report: ReportProblem = (_, fields) => void reported.push(fields);
  const verifier = new VerifyDirectoryPassword(uow, [directory], admission, clock, report);
  const userWith = (email: string) => uow.read(realm.id, ({ users }) => users.findByEmail(realm.id, email));
  return {
    reported,
    userWith,
    holds: (...people: readonly DirectoryPerson[]) => {
      entries = people;
    },
    fails: (error: Error) => {
      entries = error;
    },
    sync: (options: { isDryRun?: boolean } = {}) =>
      new SyncDirectory(uow, admission, clock).execute({
        directory,
        isDryRun: false,
        acceptsDeactivations: true,
        ...options,
      }),
    logIn: (email: string) => verifier.verify(realm, email, 'password'),
    unlink: async (email: string) =>
      new UnlinkAccount(uow).execute({
        realmId: realm.id,
        userId: (await userWith(email))!.id,
        method: directoryMethod(directory),
      }),
    setActive: async (email: string, isActive: boolean) =>
      new SetUserActive(uow, clock).execute({ realmId: realm.id, userId: (await userWith(email))!.id, isActive }),
    changeEmail: async (email: string, to: string) =>
      new SetUserEmail(uow).execute({ realmId: realm.id, userId: (await userWith(email))!.id, email: to }),
  };
}

describe('role stated by a directory', () => {
  it('follows the directory at synchronization and log-in', async () => {
    const { holds, sync, logIn, userWith } = await cast();
    holds(person('ann', { role: stated('administrator') }));
    await sync();
    expect(await userWith('ann@example.com')).toMatchObject({ role: 'administrator' });
    holds(person('ann', { role: stated('member') }));
    expect(await sync({ isDryRun: true })).toMatchObject({ counts: { changed: 1 } });
    expect(await logIn('ann@example.com')).toMatchObject({ role: 'member' });
    holds(person('ann', { role: stated('moderator') }));
    expect(await sync()).toMatchObject({ counts: { changed: 1 }, problems: [] });
    expect(await userWith('ann@example.com')).toMatchObject({ role: 'moderator' });
  });

  it("is kept and reported if the user's groups are unknown", async () => {
    const { holds, sync, logIn, reported } = await cast();
    const problem = 'The groups cannot be read.';
    holds(person('ann', { role: stated('administrator') }));
    await sync();
    holds(person('ann', { problem }));
    expect(await sync()).toMatchObject({
      counts: { changed: 0 },
      problems: [{ email: 'ann@example.com', reason: problem }],
    });
    expect(await logIn('ann@example.com')).toMatchObject({ role: 'administrator' });
    expect(reported).toEqual([expect.objectContaining({ subject: 'ann', problem })]);
  });

  it('is kept and reported for the last owner', async () => {
    const { holds, sync, logIn, reported } = await cast();
    const reason = expect.stringContaining('stays owner');
    holds(person('owner', { role: stated('member') }));
    expect(await sync()).toMatchObject({ problems: [{ email: 'owner@example.com', reason }] });
    expect(await sync()).toMatchObject({ problems: [{ email: 'owner@example.com', reason }] });
    expect(await logIn('owner@example.com')).toMatchObject({ role: 'owner' });
    expect(reported).toEqual([expect.objectContaining({ problem: reason })]);
  });
});

describe('email address moved to another directory entry', () => {
  const ADDRESS = 'ann@example.com';
  const CONFLICT = 'LINKED_TO_ANOTHER_ACCOUNT';
  const SUCCESSOR = person('successor', { email: ADDRESS });

  it('does not give access to the account of the previous entry', async () => {
    const { holds, sync, logIn, userWith, reported } = await cast();
    holds(person('ann'));
    await sync();
    holds(SUCCESSOR);
    await expect(logIn(ADDRESS)).rejects.toMatchObject({ code: CONFLICT });
    expect(reported).toEqual([expect.objectContaining({ directory: 'company', subject: 'successor' })]);
    expect(await userWith(ADDRESS)).toMatchObject({ fullName: 'ann', isActive: true });
    const problems = [{ email: ADDRESS, reason: expect.stringContaining('another account of this service') }];
    expect(await sync()).toMatchObject({ counts: { linked: 0, deactivated: 1 }, problems });
    expect(await sync()).toMatchObject({ counts: { reactivated: 0, changed: 0 }, problems });
    expect(await userWith(ADDRESS)).toMatchObject({ fullName: 'ann', isActive: false });
    await expect(logIn(ADDRESS)).rejects.toMatchObject({ code: CONFLICT });
  });

  it('belongs to the new entry once the operator has released it', async () => {
    const { holds, sync, userWith, changeEmail } = await cast();
    holds(person('ann'));
    await sync();
    holds(SUCCESSOR);
    await sync();
    await changeEmail(ADDRESS, 'former@example.com');
    expect(await sync()).toMatchObject({ counts: { created: 1 }, problems: [] });
    expect(await userWith(ADDRESS)).toMatchObject({ fullName: 'successor', isActive: true });
    holds(SUCCESSOR, person('ann', { email: 'ann.lee@example.com' }));
    expect(await sync()).toMatchObject({ counts: { reactivated: 1 }, problems: [] });
    expect(await userWith('ann.lee@example.com')).toMatchObject({ fullName: 'ann', isActive: true });
  });

  it('leads to the same account once the operator has unlinked the previous entry', async () => {
    const { holds, sync, userWith, unlink } = await cast();
    holds(person('ann'));
    await sync();
    holds(SUCCESSOR);
    expect(await unlink(ADDRESS)).toBe(true);
    expect(await sync()).toMatchObject({ counts: { linked: 1, deactivated: 0 }, problems: [] });
    expect(await userWith(ADDRESS)).toMatchObject({ fullName: 'successor', isActive: true });
  });

  it('does not reactivate an account that is unknown to the directory', async () => {
    const { holds, sync, logIn, userWith, unlink } = await cast();
    holds(person('ann'), person('bob'));
    await sync();
    holds(person('bob'));
    await sync();
    await unlink(ADDRESS);
    holds(person('bob'), SUCCESSOR);
    expect(await sync()).toMatchObject({ counts: { linked: 0, reactivated: 0 } });
    expect(await userWith(ADDRESS)).toMatchObject({ isActive: false });
    await expect(logIn(ADDRESS)).rejects.toMatchObject({ code: 'USER_DEACTIVATED' });
  });
});

it('does not reactivate a user whom an administrator reactivated and later deactivated', async () => {
  const { holds, sync, setActive, userWith } = await cast();
  holds(person('ann'), person('bob'));
  await sync();
  holds(person('bob'));
  expect(await sync()).toMatchObject({ counts: { deactivated: 1 } });
  await setActive('ann@example.com', true);
  holds(person('ann'), person('bob'));
  expect(await sync()).toMatchObject({ counts: { reactivated: 0, deactivated: 0 } });
  await setActive('ann@example.com', false);
  expect(await sync()).toMatchObject({ counts: { reactivated: 0 } });
  expect(await userWith('ann@example.com')).toMatchObject({ isActive: false });
});

it('reports a directory failure and changes nothing', async () => {
  const { holds, fails, sync, userWith } = await cast();
  holds(person('ann'));
  await sync();
  fails(new Error('it rejects bindDn with its password'));
  expect(await sync()).toMatchObject({
    stopped: 'The directory failed: it rejects bindDn with its password.',
    isAcceptable: false,
    counts: { deactivated: 0 },
  });
  expect(await userWith('ann@example.com')).toMatchObject({ isActive: true });
});
