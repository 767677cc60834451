import type { Actor } from '../access/actor.js';
import {
  acceptGroupSettings,
  defaultGroupSettings,
  type GroupSettings,
  type GroupSettingUpdate,
  type GroupSettingValue,
  groupNamed,
} from '../access/group-settings.js';
import { SUBGROUP_OF, SYSTEM_GROUPS, type SystemGroupName, systemGroupTitle } from '../access/roles.js';
import { GROUP_PERMISSIONS } from '../groups/group.js';
import { FullMemberParts } from '../groups/system-groups.js';
import { DomainError } from '../kernel/errors.js';
import { except, wholeRealm } from '../kernel/event.js';
import type { ChannelId, EventSeq, GroupId, RealmId, UnixSeconds } from '../kernel/ids.js';
import type { StoredJob } from '../kernel/jobs.js';
import type { DevelopmentMode, HostAuthentication } from '../kernel/ports.js';
import {
  badSettingValue,
  changed,
  checkSettingValues,
  type SettingChange,
  type SettingChanges,
  type SettingValue,
  settingChanges,
  settingValues,
} from '../kernel/settings.js';
import { isLongerThan } from '../kernel/text.js';
import type { Transaction } from '../kernel/unit-of-work.js';
import type { ParsedText, TextRenderer } from '../markdown/markdown.js';
import type { MeetingServer } from '../realms/calls.js';
import { type NewRealmRow, type Realm, USUAL_REALM_IMAGES } from '../realms/realm.js';
import {
  type AuthenticationMethod,
  type AuthenticationMethodState,
  authenticationMethods,
  MAX_REALM_NAME_LENGTH,
  REALM_PERMISSIONS,
  REALM_SETTINGS,
  type RealmPermission,
  type RealmSettingName,
  STORED_REALM_SETTINGS,
} from '../realms/realm-settings.js';
import { checkUserSettings, USER_SETTINGS } from '../realms/user-settings.js';
import type { JsonWebTokens } from '../users/authentication.js';
import { SYSTEM_BOTS } from '../users/user.js';
import { atLeast } from '../users/user-delivery.js';
import { announceReach } from '../users/user-events.js';
import type { PeopleDirectory } from './directories.js';
import { type LogInProvider, offeredMethods } from './log-in-methods.js';

export interface NewRealm {
  /** Subdomain of the realm; `''` for the root realm. */
  readonly stringId: string;
  readonly uuid: string;
  readonly name: string;
  readonly isAtServerAddress: boolean;
  readonly createdAt: UnixSeconds;
}

/** Organization §2.1. */
const MAX_STRING_ID_LENGTH = 40;
/** `www` is an alias of the server's own host. */
export const RESERVED_STRING_IDS: ReadonlySet<string> = new Set(['www']);

/** @throws DomainError INVALID_REALM_NAME */
export function checkRealmName(name: string): void {
  if (name.trim() === '') throw new DomainError('INVALID_REALM_NAME', 'An organization needs a name.');
  if (isLongerThan(name, MAX_REALM_NAME_LENGTH))
    throw new DomainError('INVALID_REALM_NAME', 'Organization name is too long.');
}

/**
 * Validates the id and name independently of existing realms. @throws DomainError INVALID_STRING_ID, STRING_ID_TAKEN,
 * INVALID_REALM_NAME
 */
export function checkNewRealm({ stringId, name }: Pick<NewRealm, 'stringId' | 'name'>): void {
  if (!/^([a-z0-9]([a-z0-9-]*[a-z0-9])?)?$/.test(stringId)) {
    throw new DomainError(
      'INVALID_STRING_ID',
      'An organization is named by lower-case letters, digits and dashes in between.',
    );
  }
  if (stringId.length > MAX_STRING_ID_LENGTH) throw new DomainError('INVALID_STRING_ID', 'Subdomain is too long.');
  if (RESERVED_STRING_IDS.has(stringId))
    throw new DomainError('STRING_ID_TAKEN', 'Subdomain reserved. Please choose a different one.');
  checkRealmName(name);
}

/** Creates an empty realm with system groups, default permissions and system bots. */
export async function addRealm(tx: Transaction, newRealm: NewRealm): Promise<Realm> {
  checkNewRealm(newRealm);
  const { stringId, uuid, name, isAtServerAddress, createdAt } = newRealm;
  const realm: NewRealmRow = {
    stringId,
    isAtServerAddress,
    uuid,
    name,
    isDeactivated: false,
    createdAt,
    settings: settingValues(STORED_REALM_SETTINGS, {}),
    renderedDescription: '',
    images: USUAL_REALM_IMAGES,
    userDefaults: settingValues(USER_SETTINGS, {}),
  };
  const id = await tx.realms.add(realm);
  const system = await addSystemGroups(tx, id, createdAt);
  const created: Realm = {
    ...realm,
    id,
    linkifiers: [],
    permissions: await defaultGroupSettings(REALM_PERMISSIONS, system, async () => system.nobody),
  };
  await tx.realms.update(created);
  for (const { kind, localPart, fullName } of SYSTEM_BOTS) {
    await tx.users.add(
      {
        realmId: id,
        email: `${localPart}@parley.invalid`,
        fullName,
        role: 'member',
        isActive: true,
        isDeleted: false,
        joinedAt: createdAt,
        bot: { kind: 'generic', ownerId: null, isSystem: true, defaultSendingChannelId: null },
        avatar: { source: 'generated', version: 1 },
        specialPermissions: [],
        settings: created.userDefaults,
        editedSettings: [],
      },
      null,
      kind,
    );
  }
  return created;
}

async function addSystemGroups(
  tx: Transaction,
  realmId: Realm['id'],
  createdAt: UnixSeconds,
): Promise<Record<SystemGroupName, GroupId>> {
  const ids = {} as Record<SystemGroupName, GroupId>;
  for (const { name, description } of SYSTEM_GROUPS) {
    const nobody = ids.nobody;
    const subgroup = SUBGROUP_OF[name];
    const subgroupIds = subgroup ? [ids[subgroup]] : [];
    const group = await tx.groups.add(
      {
        realmId,
        name: systemGroupTitle(name),
        description,
        systemName: name,
        isDeactivated: false,
        creatorId: null,
        createdAt,
        permissions: nobody === undefined ? null : onSystemGroup(ids),
      },
      [],
      subgroupIds,
    );
    ids[name] = group.id;
    if (nobody === undefined) await tx.groups.update({ ...group, permissions: onSystemGroup(ids) });
    await tx.events.append(realmId, {
      event: { type: 'group.created', groupId: group.id, memberIds: [], subgroupIds, view: null },
      audience: { kind: 'nobody' },
    });
  }
  return ids;
}

/** Denies managing, joining and mentioning a system group for everyone. */
function onSystemGroup(ids: Pick<Record<SystemGroupName, GroupId>, 'nobody'>): GroupSettings<typeof GROUP_PERMISSIONS> {
  const groupSettings: Record<string, GroupId> = {};
  for (const name of Object.keys(GROUP_PERMISSIONS)) groupSettings[name] = ids.nobody;
  return groupSettings as GroupSettings<typeof GROUP_PERMISSIONS>;
}

/** Configuration by the operator or host application. Absent properties stay unchanged. */
export interface RealmConfiguration {
  readonly settings?: SettingChanges<typeof REALM_SETTINGS>;
  /** Names of groups, such as `role:moderators` (channels §3.1). */
  readonly permissions?: { readonly [P in RealmPermission]?: string };
  /** Settings of new users. */
  readonly userDefaults?: SettingChanges<typeof USER_SETTINGS>;
}

export interface ChangeRealmInput {
  readonly name?: string;
  readonly stringId?: string;
  readonly settings: SettingChanges<typeof REALM_SETTINGS>;
  readonly authenticationMethods?: AuthenticationMethodChanges;
  readonly permissions: { readonly [P in RealmPermission]?: GroupSettingUpdate };
}

/** Methods to change; others stay unchanged (organization §2.5). */
export interface AuthenticationMethodChanges {
  readonly methods: ReadonlyMap<AuthenticationMethod, boolean>;
  /** First unknown method name; null if all are known. */
  readonly unknown: string | null;
}

type Change = SettingChange<typeof REALM_SETTINGS>;

/** Actual changes, in publication order. */
export interface ChangeRealmOutput {
  /** Null if unchanged. */
  readonly name: string | null;
  readonly settings: readonly Change[];
  readonly permissions: readonly { readonly name: RealmPermission; readonly value: GroupSettingValue }[];
  readonly changesAuthentication: boolean;
}

interface AppliedChanges {
  readonly output: ChangeRealmOutput;
  /** Jobs that update the full members group. */
  readonly jobs: readonly StoredJob[];
}

/** Written and published last, even if unchanged (organization §2, §2.4). */
const ALWAYS_WRITTEN: RealmSettingName = 'organizationType';

/** Methods that require no external service. */
const WITHOUT_SERVICE: readonly AuthenticationMethod[] = [
  'devAuthentication',
  'emailAuthentication',
  'ldapAuthentication',
];

/** Ways to log in to organizations of this server. */
export class LogInWays {
  static readonly inject = [
    'developmentMode',
    'logInProviders',
    'peopleDirectories',
    'webTokens',
    'hostAuthentication',
  ] as const;
  constructor(
    private readonly mode: DevelopmentMode,
    private readonly logInProviders: readonly LogInProvider[],
    private readonly directories: readonly PeopleDirectory[],
    private readonly webTokens: JsonWebTokens,
    private readonly host: HostAuthentication,
  ) {}

  /** True if users can log in to the organization by one of its enabled methods, or without any. */
  canBeLoggedInTo(realm: Realm): boolean {
    if (this.host.isOn || this.webTokens.isEnabledFor(realm.stringId)) return true;
    if (offeredMethods(this.logInProviders, realm).length > 0) return true;
    return this.methodsOf(realm).some(({ method, isEnabled }) => isEnabled && WITHOUT_SERVICE.includes(method));
  }

  methodsOf(realm: Realm): readonly AuthenticationMethodState[] {
    const hasDirectory = this.directories.some(({ realm: stringId }) => stringId === realm.stringId);
    const kinds = this.logInProviders.map(({ method }) => method.kind);
    const configured = new Set([...kinds, ...(hasDirectory ? ['ldapAuthentication'] : [])]);
    return authenticationMethods(realm.settings, this.mode, configured);
  }
}

/** Applies permitted changes with all their consequences. */
export class RealmChanges {
  static readonly inject = ['textRenderer', FullMemberParts, LogInWays, 'meetingServer'] as const;
  constructor(
    private readonly texts: TextRenderer,
    private readonly fullMembers: FullMemberParts,
    readonly logIns: LogInWays,
    private readonly meetingServer: MeetingServer | null,
  ) {}

  /** Requires a meeting server configured by the operator (organization §20). @throws DomainError BAD_SETTING_VALUE */
  checkProvider({ videoChatProvider }: ChangeRealmInput['settings']): void {
    if (videoChatProvider === 'bigBlueButton' && !this.meetingServer) {
      throw badSettingValue('realm', 'videoChatProvider', videoChatProvider);
    }
  }

  /** Applies a configuration for the operator, with changes that only `ChangeRealmInput` has in `more`. */
  async configure(
    tx: Transaction,
    realm: Realm,
    { settings = {}, permissions = {}, userDefaults = {} }: RealmConfiguration,
    more: Pick<ChangeRealmInput, 'name' | 'authenticationMethods'> = {},
    parsed: ParsedText | null = null,
  ): Promise<AppliedChanges> {
    const updates: { [P in RealmPermission]?: GroupSettingUpdate } = {};
    for (const [permission, name] of Object.entries(permissions) as [RealmPermission, string][]) {
      updates[permission] = { new: await groupNamed(tx, realm.id, name) };
    }
    const withDefaults = await changeUserDefaults(tx, realm, userDefaults);
    return this.apply(tx, withDefaults, null, { ...more, settings, permissions: updates }, parsed);
  }

  /** `actor`: null for the operator. */
  async apply(
    tx: Transaction,
    realm: Realm,
    actor: Actor | null,
    input: ChangeRealmInput,
    parsed: ParsedText | null,
  ): Promise<AppliedChanges> {
    const settings = await requestedChanges(tx, realm, input);
    const permissions = await acceptGroupSettings(
      tx,
      realm.id,
      REALM_PERMISSIONS,
      realm.permissions,
      input.permissions,
    );
    const name = input.name === undefined || input.name === realm.name ? null : input.name;
    const methods = [...(input.authenticationMethods?.methods ?? [])].filter(([key, is]) => realm.settings[key] !== is);
    const changesAuthentication = methods.length > 0;
    const output = { name, settings: inOrderOfWriting(settings), permissions, changesAuthentication };
    if (name === null && settings.length + permissions.length + methods.length === 0) return { output, jobs: [] };

    const description = settings.find((change) => change.name === 'description');
    const after: Realm = {
      ...realm,
      name: name ?? realm.name,
      settings: { ...realm.settings, ...changed(realm.settings, settings), ...Object.fromEntries(methods) },
      renderedDescription: description
        ? await this.texts.render(tx, realm.id, actor, parsed!)
        : realm.renderedDescription,
      permissions: { ...realm.permissions, ...Object.fromEntries(permissions.map((row) => [row.name, row.groupId])) },
    };
    await tx.realms.update(after);
    if (after.settings.searchLanguages !== realm.settings.searchLanguages) {
      await tx.searchIndex.indexAgain(realm.id);
      await tx.fileTexts.readAgain(realm.id);
    }
    const isPeriodChanged = after.settings.waitingPeriodThreshold !== realm.settings.waitingPeriodThreshold;
    const jobs = isPeriodChanged ? await this.fullMembers.schedule(tx, realm.id, [{ userIds: null }]) : [];
    const lastSeq = await tx.events.lastSeq(realm.id);
    await this.announce(tx, after, output);
    await announceReachOfGuests(tx, realm, after, lastSeq);
    return { output, jobs };
  }

  /** Runs the follow-up jobs after the unit of work and returns its output. */
  async complete({ output, jobs }: AppliedChanges): Promise<ChangeRealmOutput> {
    await this.fullMembers.run(jobs);
    return output;
  }

  private async announce(tx: Transaction, realm: Realm, output: ChangeRealmOutput): Promise<void> {
    const { name, settings, permissions, changesAuthentication } = output;
    const append = (event: Parameters<Transaction['events']['append']>[1]['event']) =>
      tx.events.append(realm.id, { event, audience: wholeRealm });
    const announceSetting = ({ name: setting, value }: Change) =>
      append({
        type: 'realm.setting_changed',
        setting,
        value,
        rendered: setting === 'description' ? realm.renderedDescription : null,
      });
    const isLast = (change: Change) => REALM_SETTINGS[change.name].kind === 'channel' || change.name === ALWAYS_WRITTEN;
    if (name !== null) await append({ type: 'realm.name_changed', name });
    for (const change of settings) if (!isLast(change)) await announceSetting(change);
    for (const row of permissions) {
      await append({
        type: 'realm.permission_changed',
        permission: row.name,
        groupId: realm.permissions[row.name],
        value: row.value,
      });
    }
    if (changesAuthentication) {
      await append({ type: 'realm.authentication_changed', methods: this.logIns.methodsOf(realm) });
    }
    for (const change of settings) if (isLast(change)) await announceSetting(change);
  }

  /** Runs before the unit of work. Returns null if there is no description to parse. */
  async parseDescription(realmId: RealmId, description: unknown): Promise<ParsedText | null> {
    return typeof description === 'string' ? this.texts.parse(realmId, description) : null;
  }
}

/** Changes the default settings of new users and returns the changed realm. @throws DomainError BAD_SETTING_VALUE */
export async function changeUserDefaults(
  tx: Transaction,
  realm: Realm,
  requested: SettingChanges<typeof USER_SETTINGS>,
): Promise<Realm> {
  checkUserSettings(requested);
  const changes = settingChanges(USER_SETTINGS, realm.userDefaults, requested).filter(
    ({ name }) => USER_SETTINGS[name].hasRealmDefault,
  );
  if (changes.length === 0) return realm;
  const after = { ...realm, userDefaults: changed(realm.userDefaults, changes) };
  await tx.realms.update(after);
  for (const { name, value } of changes) {
    const event = { type: 'realm.user_default_changed', setting: name, value } as const;
    await tx.events.append(realm.id, { event, audience: wholeRealm });
  }
  return after;
}

/** Publishes user visibility changes to guests, who see everyone or only related users (users §1.4). */
async function announceReachOfGuests(tx: Transaction, before: Realm, after: Realm, lastSeq: EventSeq): Promise<void> {
  if (before.permissions.canAccessAllUsers === after.permissions.canAccessAllUsers) return;
  const { everyone } = await tx.groups.systemGroupIds(after.id);
  const reach = after.permissions.canAccessAllUsers === everyone ? 'widened' : 'narrowed';
  await announceReach(tx, after, reach, except(wholeRealm, atLeast('member')), lastSeq);
}

async function requestedChanges(
  tx: Transaction,
  realm: Realm,
  { settings }: ChangeRealmInput,
): Promise<readonly Change[]> {
  checkSettingValues('realm', REALM_SETTINGS, settings);
  const changes = settingChanges(REALM_SETTINGS, realm.settings, settings);
  for (const { name, value } of changes) {
    if (REALM_SETTINGS[name].kind !== 'channel' || value === null) continue;
    const channel = await tx.channels.find(realm.id, value as ChannelId);
    if (!channel || channel.isArchived) throw badSettingValue('realm', name, value);
  }
  const changing = new Set(changes.map(({ name }) => name));
  const repeated = namesOf(settings).filter((name) => !changing.has(name) && isWrittenAgain(name, settings[name]));
  return [...changes, ...repeated.map((name) => ({ name, value: settings[name] as SettingValue }))];
}

/**
 * True if the setting is written and published even if unchanged, as for clearing a channel again (organization
 * §2.3).
 */
const isWrittenAgain = (name: RealmSettingName, value: unknown): boolean =>
  name === ALWAYS_WRITTEN || (REALM_SETTINGS[name].kind === 'channel' && value === null);

/** Returns the names with defined values. */
export const namesOf = <N extends string>(requested: { readonly [K in N]?: unknown }): readonly N[] =>
  (Object.keys(requested) as N[]).filter((name) => requested[name] !== undefined);

/** Sorts changes: removed limits first, channels and always-written settings last (organization §2.4). */
function inOrderOfWriting(changes: readonly Change[]): readonly Change[] {
  const rank = ({ name, value }: Change): number => {
    const { kind } = REALM_SETTINGS[name];
    if (kind === 'limit' && value === null) return 0;
    if (kind === 'channel') return 2;
    return name === ALWAYS_WRITTEN ? 3 : 1;
  };
  return [...changes].sort((a, b) => rank(a) - rank(b));
}
