import { isIP } from 'node:net';
import { type ChannelId, DomainError, type GroupId } from '@parley/domain/kernel';
import { ConfigureRealm, CreateRealm, checkNewRealm, ReactivateRealm, SuspendRealm } from '@parley/domain/log-in';
import {
  type AuthenticationMethod,
  ForgetLimits,
  REALM_PERMISSIONS,
  REALM_SETTINGS,
  type Realm,
  type RealmPermission,
  type RealmSettingDefinition,
  type RealmSettingName,
  takesServerAddress,
} from '@parley/domain/realms';
import { AUTHENTICATION_METHOD_NAMES } from '@parley/http';
import type { ComposedParley } from '../composition/parley.js';
import { addressesOf } from '../http/http-server.js';
import { hint } from '../kernel/did-you-mean.js';
import { serverAddressOf } from '../kernel/realm-resolver.js';
import { describeValues } from '../kernel/setting-values.js';
import { StartupError, UsageError } from '../kernel/startup-error.js';
import { always, type Command, type CommandResult } from './command.js';
import {
  commandOn,
  findUserAndRealm,
  nameOf,
  noRealm,
  type OnRealm,
  REALM,
  serverCommand,
} from './command-subjects.js';
import { hasDatabase, NEW_DATABASE, requireDatabase } from './databases.js';

const presentRealm = ({ ports }: ComposedParley, realm: Realm) => ({
  id: realm.id,
  stringId: realm.stringId,
  name: realm.name,
  url: ports.realmUrls.urlOf(realm),
  active: !realm.isDeactivated,
});

const setActive =
  (isActive: boolean) =>
  async ({ parley, realm }: OnRealm): Promise<CommandResult> => {
    const { stringId } = realm;
    const { useCase } = parley;
    const changed = isActive
      ? await useCase(ReactivateRealm).execute({ stringId })
      : await useCase(SuspendRealm).execute({ stringId });
    const state = isActive ? 'active' : 'deactivated';
    return {
      lines: [`Organization ${nameOf(realm)} ${changed ? `is now ${state}` : `was already ${state}`}`],
      data: { ...presentRealm(parley, { ...realm, isDeactivated: !isActive }), changed },
    };
  };

async function setValue({ parley, realm }: OnRealm, name: RealmSettingName, text: string): Promise<CommandResult> {
  const value = await parseValue(parley, realm, name, text);
  const { settings } = await parley
    .useCase(ConfigureRealm)
    .execute({ realmId: realm.id, settings: { [name]: value } })
    .catch((error: unknown) => {
      if (error instanceof DomainError && error.code === 'BAD_SETTING_VALUE') {
        throw new UsageError(
          `${name} must be ${describeValues(REALM_SETTINGS[name], WORDS)}, not ${JSON.stringify(text)}.`,
        );
      }
      throw error;
    });
  const changed = settings.length > 0 && realm.settings[name] !== value;
  return {
    ...(changed && { changes: { [name]: { from: realm.settings[name], to: value } } }),
    lines: [`${name} of ${nameOf(realm)} ${changed ? 'is' : 'was already'} ${text}`],
    data: { ...presentRealm(parley, realm), setting: name, value, changed },
  };
}

async function setPermission({ parley, realm }: OnRealm, name: RealmPermission, group: string): Promise<CommandResult> {
  const { permissions } = await parley
    .useCase(ConfigureRealm)
    .execute({ realmId: realm.id, permissions: { [name]: group } });
  const isChanged = permissions.length > 0;
  const before = (await groupNames(parley, realm)).get(realm.permissions[name]) ?? SEVERAL;
  return {
    ...(isChanged && { changes: { [name]: { from: before, to: group } } }),
    lines: [`${name} of ${nameOf(realm)} ${isChanged ? 'is' : 'was already'} ${group}`],
    data: { ...presentRealm(parley, realm), setting: name, value: group, changed: isChanged },
  };
}

/** Shown for a permission given to people or to several groups in a client. */
const SEVERAL = 'several people or groups';

async function groupNames({ ports }: ComposedParley, realm: Realm): Promise<ReadonlyMap<GroupId, string>> {
  const groups = await ports.unitOfWork.read(realm.id, (repositories) => repositories.groups.listNamed(realm.id));
  return new Map(groups.map(({ id, name }) => [id, name!]));
}

/** Name under which `realm set` changes the enabled log-in methods. */
const AUTHENTICATION = 'authentication';

const METHODS = Object.entries(AUTHENTICATION_METHOD_NAMES) as [AuthenticationMethod, string][];
const shownMethods = ({ settings }: Realm): string =>
  METHODS.map(([method, name]) => `${name}=${settings[method] ? 'on' : 'off'}`).join(',');

/** @throws UsageError */
function parseMethods(text: string): ReadonlyMap<AuthenticationMethod, boolean> {
  const changes = text.split(',').map((change) => {
    const [, named = '', state] = /^\s*(.*?)=(on|off)\s*$/.exec(change) ?? [];
    const method = METHODS.find(([, name]) => name.toLowerCase() === named.toLowerCase());
    if (method) return [method[0], state === 'on'] as const;
    const names = METHODS.map(([, name]) => name).join(', ');
    throw new UsageError(
      `authentication must be METHOD=on or METHOD=off, not ${JSON.stringify(change)}. Methods: ${names}.`,
    );
  });
  return new Map(changes);
}

const NO_LOG_IN =
  'Warning: no enabled method is configured here, so nobody can log in, except by an application that embeds Parley.';

async function setAuthentication(
  { parley, realm }: OnRealm,
  authenticationMethods: ReadonlyMap<AuthenticationMethod, boolean>,
  text: string,
): Promise<CommandResult> {
  const input = { realmId: realm.id, authenticationMethods };
  const { changesAuthentication: changed, canBeLoggedInTo } = await parley.useCase(ConfigureRealm).execute(input);
  return {
    lines: [
      `${AUTHENTICATION} of ${nameOf(realm)} ${changed ? 'is' : 'was already'} ${text}`,
      ...(canBeLoggedInTo ? [] : [NO_LOG_IN]),
    ],
    data: { ...presentRealm(parley, realm), setting: AUTHENTICATION, value: text, changed },
  };
}

/** Formats settings as `realm set` accepts them. */
async function shownSettings({ ports }: ComposedParley, realm: Realm): Promise<readonly string[]> {
  const settings = Object.keys(REALM_SETTINGS) as RealmSettingName[];
  const ids = settings.flatMap((setting) =>
    REALM_SETTINGS[setting].kind === 'channel' ? ((realm.settings[setting] ?? []) as ChannelId) : [],
  );
  const channels = await ports.unitOfWork.read(realm.id, (repositories) => repositories.channels.list(realm.id, ids));
  const names = new Map<unknown, string>(channels.map(({ id, name }) => [id, name]));
  return settings.map((setting) => {
    const value: unknown = realm.settings[setting];
    const { kind }: RealmSettingDefinition = REALM_SETTINGS[setting];
    const shown = kind === 'boolean' ? (value ? 'on' : 'off') : kind === 'channel' ? names.get(value) : value;
    return `${setting}: ${value === null ? 'none' : shown}`;
  });
}

const isPermission = (name: string): name is RealmPermission => Object.hasOwn(REALM_PERMISSIONS, name);

/** Accepts both `message-retention-days` and `message_retention_days`. @throws UsageError */
function settingNamed(settingName: string): RealmSettingName | RealmPermission {
  const names = [...Object.keys(REALM_SETTINGS), ...Object.keys(REALM_PERMISSIONS)];
  const plain = (text: string) => text.replace(/[-_]/g, '').toLowerCase();
  const name = names.find((it) => plain(it) === plain(settingName));
  if (!name)
    throw new UsageError(`There is no setting ${settingName}${hint(settingName, names) || '; see parley realm show.'}`);
  return name as RealmSettingName | RealmPermission;
}

const WORDS = { flag: 'on or off', none: 'none', channel: 'the name of an active channel' };

async function parseValue({ ports }: ComposedParley, realm: Realm, name: RealmSettingName, text: string) {
  const definition: RealmSettingDefinition = REALM_SETTINGS[name];
  if (definition.nullable && text === 'none') return null;
  switch (definition.kind) {
    case 'boolean':
      return text === 'on' ? true : text === 'off' ? false : text;
    case 'integer':
    case 'limit':
      return /^-?\d{1,10}$/.test(text) ? Number(text) : text;
    case 'choice':
      return definition.values.find((value) => String(value) === text) ?? text;
    case 'text':
      return text;
    case 'channel': {
      const channel = await ports.unitOfWork.read(realm.id, ({ channels }) => channels.findByName(realm.id, text));
      if (!channel) throw new StartupError(`There is no channel ${text} in ${nameOf(realm)}.`);
      return channel.id;
    }
  }
}

async function firstRealm({ ports }: ComposedParley): Promise<Realm> {
  const [first] = await ports.unitOfWork.readAcross(({ realms }) => realms.list());
  if (!first) throw noRealm();
  return first;
}

const ofNamed = commandOn(async ({ ports }, { word }) => {
  const realm = await ports.unitOfWork.readAcross(({ realms }) => realms.findByStringId(word(0)));
  if (!realm) throw new StartupError(`There is no organization '${word(0)}'; see parley realm list.`);
  return { realm };
});

const STRING_ID = "STRING_ID is the organization's subdomain; '' is the organization at the public address.";

/** Declares a command on the organization `STRING_ID`. */
const namedCommand = <Input>(command: Parameters<typeof ofNamed<Input>>[0]): Command =>
  ofNamed({ words: 'STRING_ID', details: STRING_ID, ...command });

export const REALM_COMMANDS: readonly Command[] = [
  serverCommand({
    name: 'realm list',
    help: 'lists the organizations',
    examples: ['parley realm list', 'parley realm list --json'],
    isReadOnly: always,
    async run({ parley }) {
      const realms = await parley.ports.unitOfWork.readAcross((repositories) => repositories.realms.list());
      const presented = realms.map((realm) => presentRealm(parley, realm));
      return {
        lines: presented.map(
          ({ stringId, name, url, active }) => `'${stringId}'\t${url}\t${name}${active ? '' : ' (deactivated)'}`,
        ),
        data: { realms: presented },
      };
    },
  }),
  namedCommand({
    name: 'realm show',
    help: 'shows the settings of an organization',
    examples: ["parley realm show ''", 'parley realm show lear --json'],
    isReadOnly: always,
    async run({ parley, realm }) {
      const settings = Object.fromEntries(
        (Object.keys(REALM_SETTINGS) as RealmSettingName[]).map((name) => [name, realm.settings[name]]),
      );
      const groups = await groupNames(parley, realm);
      const permissions = Object.entries(realm.permissions).map(([name, id]) => [name, groups.get(id) ?? SEVERAL]);
      return {
        lines: [
          `${nameOf(realm)} at ${parley.ports.realmUrls.urlOf(realm)}${realm.isDeactivated ? ', deactivated' : ''}`,
          ...(await shownSettings(parley, realm)),
          ...permissions.map(([name, group]) => `${name}: ${group}`),
          `${AUTHENTICATION}: ${shownMethods(realm)}`,
        ],
        data: {
          ...presentRealm(parley, realm),
          settings,
          permissions: Object.fromEntries(permissions),
          authentication: shownMethods(realm),
        },
      };
    },
  }),
  serverCommand({
    name: 'realm create',
    words: 'STRING_ID NAME',
    help: 'creates an organization',
    details: `${STRING_ID} Subscribes new users to the channels general and sandbox, and welcomes the first owner.`,
    flags: { ...NEW_DATABASE, bare: { help: 'creates no channels and sends no welcome' } },
    examples: ["parley realm create --new-database '' 'My organization'", "parley realm create lear 'King Lear'"],
    input({ words, invocation }) {
      const [stringId, name] = words as [string, string];
      // Validated first, so that a rejected command creates no database file.
      checkNewRealm({ stringId, name });
      requireDatabase(invocation);
      if (!hasDatabase(invocation))
        takesServerAddress(stringId, [], serverAddressOf(addressesOf(invocation.configuration)));
      return { stringId, name };
    },
    async run({ parley, isOn }, named) {
      const realm = await parley.useCase(CreateRealm).execute({ ...named, isStarted: !isOn('bare') });
      const presented = presentRealm(parley, realm);
      return { lines: [`Created organization ${nameOf(realm)} at ${presented.url}`], data: presented };
    },
  }),
  namedCommand({
    name: 'realm rename',
    words: 'STRING_ID NAME',
    help: 'renames an organization',
    examples: ["parley realm rename lear 'King Lear and daughters'"],
    async run({ parley, realm, word }) {
      const name = word(1);
      await parley.useCase(ConfigureRealm).execute({ realmId: realm.id, name });
      return {
        lines: [`Renamed organization '${realm.stringId}' to ${name}`],
        data: presentRealm(parley, { ...realm, name }),
      };
    },
  }),
  namedCommand({
    name: 'realm deactivate',
    help: 'deactivates an organization and keeps its data',
    examples: ['parley realm deactivate lear'],
    run: setActive(false),
  }),
  namedCommand({
    name: 'realm reactivate',
    help: 'reactivates a deactivated organization',
    examples: ['parley realm reactivate lear'],
    run: setActive(true),
  }),
  namedCommand({
    name: 'realm set',
    words: 'STRING_ID SETTING VALUE',
    help: 'changes a setting of an organization, including settings that only operators may change',
    details: `${STRING_ID} parley realm show lists the settings. Switches are on or off; none clears a value. Permissions take the name of a group.`,
    examples: [
      "parley realm set '' inviteRequired off",
      "parley realm set '' canInviteUsers role:administrators",
      'parley realm set lear message-retention-days 365',
      "parley realm set '' authentication 'OpenID Connect=on,Email=off'",
    ],
    input({ words }): (on: OnRealm) => Promise<CommandResult> {
      const [, settingName, text] = words as [string, string, string];
      if (settingName === AUTHENTICATION) {
        const methods = parseMethods(text);
        return (on) => setAuthentication(on, methods, text);
      }
      const name = settingNamed(settingName);
      return (on) => (isPermission(name) ? setPermission(on, name, text) : setValue(on, name, text));
    },
    run: (on, set) => set(on),
  }),
  serverCommand({
    name: 'limits forget',
    words: '[EMAIL]',
    help: 'resets the rate limits of a user or an address',
    flags: {
      ...REALM,
      ip: { value: 'ADDRESS', help: 'unauthenticated requests from this address' },
      all: { help: 'all rate limits' },
    },
    examples: [
      'parley limits forget ann@example.com',
      'parley limits forget --ip 192.0.2.7',
      'parley limits forget --all',
    ],
    input({ words, flag, isOn }) {
      const [named] = words;
      const ip = flag('ip') ?? null;
      const everything = isOn('all');
      if (ip !== null && isIP(ip) === 0) throw new UsageError('--ip must be an address such as 192.0.2.7.');
      if (everything ? named !== undefined || ip !== null : named === undefined && ip === null) {
        throw new UsageError('Pass a user, --ip ADDRESS or --all.');
      }
      return { named, ip, everything };
    },
    async run({ parley, ...context }, { named, ip, everything }) {
      const { user, realm } =
        named === undefined
          ? // Limits per address apply to the whole server; the reset is recorded in the first organization.
            { user: null, realm: await firstRealm(parley) }
          : await findUserAndRealm(context, parley, named);
      await parley.useCase(ForgetLimits).execute({ realmId: realm.id, userId: user?.id ?? null, ip });
      const limited = [user && `${user.fullName} <${user.email}>`, ip, everything && 'everyone']
        .filter(Boolean)
        .join(' and ');
      return {
        lines: [`The rate limits of ${limited} will be reset within two seconds if the server is running`],
        data: { userId: user?.id ?? null, ip, all: everything },
      };
    },
  }),
];
