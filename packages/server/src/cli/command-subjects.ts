import type { ChannelId } from '@parley/domain/kernel';
import type { Realm } from '@parley/domain/realms';
import type { User } from '@parley/domain/users';
import type { ComposedParley } from '../composition/parley.js';
import { StartupError } from '../kernel/startup-error.js';
import type { Command, CommandContext, CommandFlag, CommandResult } from './command.js';

/** Flag of commands for one organization. */
export const REALM: Readonly<Record<string, CommandFlag>> = {
  realm: { value: 'STRING_ID', help: 'organization; default: the only one, or that of --default-realm' },
};

export const noRealm = () => new StartupError('There is no organization yet; see parley realm create --help.');

/** Returns the organization of `--realm`, else the only one, else that of the setting. @throws StartupError */
export async function findRealm(parley: ComposedParley, context: CommandContext): Promise<Realm> {
  const realm = await selectRealm(parley, context);
  context.concerns.realmId = realm.id;
  return realm;
}

async function selectRealm({ ports }: ComposedParley, { flag, invocation }: CommandContext): Promise<Realm> {
  const realms = await ports.unitOfWork.readAcross((repositories) => repositories.realms.list());
  if (realms.length === 0) throw noRealm();
  const named = flag('realm');
  const wanted = named ?? invocation.configuration.defaultRealm;
  const realm = named === undefined && realms.length === 1 ? realms[0] : realms.find((it) => it.stringId === wanted);
  if (realm) return realm;
  throw new StartupError(`--realm must be one of ${stringIdsOf(realms)}.`);
}

const stringIdsOf = (realms: readonly Realm[]): string => realms.map(({ stringId }) => `'${stringId}'`).join(', ');

/**
 * Returns the only organization with such a user, or that of the setting if there are several. @throws StartupError
 */
async function findRealmOf(parley: ComposedParley, named: string, context: CommandContext): Promise<Realm> {
  const { unitOfWork } = parley.ports;
  const realms = await unitOfWork.readAcross((repositories) => repositories.realms.list());
  if (realms.length < 2) return findRealm(parley, context);
  const found: Realm[] = [];
  for (const realm of realms) if (await lookUpUser(parley, realm, named)) found.push(realm);
  const { defaultRealm } = context.invocation.configuration;
  const realm = found.length === 1 ? found[0] : found.find(({ stringId }) => stringId === defaultRealm);
  if (realm) return realm;
  throw new StartupError(
    found.length === 0
      ? `There is no user ${named} in ${stringIdsOf(realms)}; see parley user list.`
      : `--realm must be one of ${stringIdsOf(found)}, which all have a user ${named}.`,
  );
}

/** Finds a user by id or by case-insensitive email. */
const lookUpUser = ({ ports }: ComposedParley, realm: Realm, named: string): Promise<User | null> =>
  ports.unitOfWork.read(realm.id, ({ users }) =>
    /^[1-9]\d{0,14}$/.test(named)
      ? users.find(realm.id, Number(named) as User['id'])
      : users.findByEmail(realm.id, named),
  );

/** @throws StartupError */
export async function findUser(parley: ComposedParley, realm: Realm, named: string): Promise<User> {
  const user = await lookUpUser(parley, realm, named);
  if (!user) throw new StartupError(`There is no user ${named} in ${nameOf(realm)}; see parley user list.`);
  return user;
}

/** Returns the channel of `--channel`; null without the flag. @throws StartupError */
export async function channelIn(
  { ports }: ComposedParley,
  { flag }: CommandContext,
  { id }: Realm,
): Promise<ChannelId | null> {
  const name = flag('channel');
  if (name === undefined) return null;
  const channel = await ports.unitOfWork.read(id, ({ channels }) => channels.findByName(id, name));
  if (!channel) throw new StartupError(`There is no channel ${name}.`);
  return channel.id;
}

export const nameOf = ({ stringId, name }: Pick<Realm, 'stringId' | 'name'>): string =>
  stringId === '' ? name : `${stringId} (${name})`;

/**
 * Returns a user and the organization of `--realm`, which is needed only for users of several organizations.
 * @throws StartupError
 */
export async function findUserAndRealm(
  context: CommandContext,
  parley: ComposedParley,
  named: string,
): Promise<{ readonly user: User; readonly realm: Realm }> {
  const isGiven = context.flag('realm') !== undefined;
  const realm = await (isGiven ? findRealm(parley, context) : findRealmOf(parley, named, context));
  const user = await findUser(parley, realm, named);
  Object.assign(context.concerns, { realmId: realm.id, userId: user.id });
  return { user, realm };
}

/** Context of a command on an organization. */
export interface OnRealm extends CommandContext {
  readonly parley: ComposedParley;
  readonly realm: Realm;
}

/** Command on an open database, with the object that it concerns. */
interface CommandOn<Subject, Input> extends Omit<Command, 'run'> {
  /** Checks and reads the command line before the database is opened. */
  readonly input?: (context: CommandContext) => Input | Promise<Input>;
  run(subject: CommandContext & Subject & { readonly parley: ComposedParley }, input: Input): Promise<CommandResult>;
}

/** Returns a function that declares commands on the objects that `find` returns. */
export const commandOn =
  <Subject>(find: (parley: ComposedParley, context: CommandContext) => Promise<Subject>) =>
  <Input>({ input, run, ...command }: CommandOn<Subject, Input>): Command => ({
    ...command,
    async run(context) {
      const given = (await input?.(context)) as Input;
      return context.withParley(async (parley) => run({ ...context, parley, ...(await find(parley, context)) }, given));
    },
  });

/** Declares a command on the whole server. */
export const serverCommand = commandOn(async () => ({}));

const ofRealm = commandOn(async (parley, context) => ({ realm: await findRealm(parley, context) }));

/** Declares a command on the organization of `--realm`. */
export const realmCommand = <Input>({ flags, ...command }: Parameters<typeof ofRealm<Input>>[0]): Command =>
  ofRealm({ ...command, flags: { ...REALM, ...flags } });

/** Declares a command on the user in the first argument. */
export const ofUser = commandOn((parley, context) => findUserAndRealm(context, parley, context.word(0)));

export const BY_USER = 'EMAIL is the email or the id of a user.';

/** Declares a command on the user `EMAIL`, with the flag `--realm`. */
export const userCommand = <Input>({ flags, ...command }: Parameters<typeof ofUser<Input>>[0]): Command =>
  ofUser({ words: 'EMAIL', details: BY_USER, ...command, flags: { ...REALM, ...flags } });
