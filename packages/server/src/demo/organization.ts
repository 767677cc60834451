import type { Role } from '@parley/domain/access';
import { type BlobKey, type BlobStore, inOneChunk, type Picture } from '@parley/domain/files';
import type { Randomness, RealmId, Transaction, UserId } from '@parley/domain/kernel';
import type { RealmSettings } from '@parley/domain/realms';
import type { ProfileFieldData, ProfileFieldKind, SpecialPermission } from '@parley/domain/users';
import type { Demo } from '@parley/http';

export const DEMO_EMOJI_NAME = 'green_tick';

/** PNG of 64 by 64 pixels. */
export const DEMO_EMOJI = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAEAAAABABAMAAABYR2ztAAAAMFBMVEVMaXECtlAan0Uao0cZnkYZnEQaoUYZnUQao0caoUYapEca' +
    'okYZnkQZoUYaoEYbqUrJR1wKAAAADnRSTlMAA/3+ZROzM82X6fFQdT4xR9oAAAAJcEhZcwAAA+gAAAPoAbV7UmsAAAGbSURBVEjH' +
    '5ZW9SgNBFIXnQrKLhXAD+gKz/S6YQlQwCz5AbASxskolKFhpZ5E6eQMRCwtLEQsLBR9AG2th7EdIghhR4v7M7O/c8QEy1cJevjlz' +
    '5tw7jM33AmStf/4zhpYCXOr1XsECcAez2fcjjcDTEefehERAc+BLKdaPKAQ4IxmtYEgV4LkfF3gXFKCRAKR3SwGOhbUAmpe+nbCb' +
    '7iCDfavEiGB2ChYVQEzNRuGTUDucEdegJIqvbbRK9O6IHQ6VxI8QTekxSSylB7ekNgFN6QH3piaxlB7MJF6BMT25xNxFSNLTSTTD' +
    'gpb4C5XLTxHYVYBCmFS8EgS4m5nE3BlHxSdC4N5KTWJWECOSMMff78U8O/pgk1xisSNybzvhW11itHQCpbeWuVi6Z3zmGqEBfSh3' +
    'wVj9UEkSG5WWw646nF7Vps0RJol1hPiEei8WERWJNYRxKpQQP6YwFxDBCxonQuYF1W8aEfSpoZIi6MGlEP4qMCsiCMnhGSE451N6' +
    '/ELjod2eDS0DHE+u7w/A9gKw5R3rCxCPgNa8vp9//p6Y0LnpGdgAAAAASUVORK5CYII=',
  'base64',
);

/** PNG of 200 by 200 pixels. */
export const DEMO_ICON = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAMgAAADIBAMAAABfdrOtAAAAMFBMVEV6HyvysTT258i4g3q4ai+DKi3rqTPfmTKUSEuQOiyjUS7NgzHs' +
    '1bfLopGoaWbzwFy8scrCAAAACXBIWXMAAAsTAAALEwEAmpwYAAACFUlEQVR42u3avy8DYRzH8QaXHEHyTUQTFs5ioGlYDIYamG/oP9DE' +
    'YpSwmBpWpLuBiZXRJiwW0ZgMBjH5FyQG58fp9e5a9+P5fIl83pv6xittn3v6tFooMMYYY+zPt3iFN3odpwxHBh3nAo70OJMSqaKAjGvc' +
    'k1MFpKjxnGwqIEVXAVlTWMKjDQVkTeNiPFJAxjS2lcq/QVQeLpUnXmcJq1yMKtuKzgapstUD7spvvfzqHCQARyJnQuFwR4QIkb+B3L7i' +
    'kUORF7Rx8L4fnisYYKXq7+1ApVoTuBIwRJYVDBldxhsYJWwglL5a9PhgWhmIMTzF6CllYF1iK1bwhqcc4Q1zSjfDlNLdMKP0n4mglZ8N' +
    'T2ngDe+tQwNv5FOSGnkUa0kErVgrImglnSEy4uINkVUXb6RXshiplUxGSuVYMraa3DiRzG0oGCJbCkZCJaeRSMltJFAORBQUxgro/1R/' +
    'N+X9POd0LPzrMhEiRIgQIZIAuXl2rf0HLHL/ObCHRO79iT0cUmqNPKGQmXprxL4EIdfBmV0QUg/O2Bik1D70BEGa7UNDEKTePmQjkNnw' +
    '1B0AmQ5PbQOQi0L0a5d5EHu+1YL/V5rhqSEf2QmM1zOf8j+Qx/Ctwz5iprmYxfW1vAwjkQ+ALAASvZlIlyXcGcm2hGMvxs6IwSueCBEi' +
    'RIgQIUKECJF/jIjBiBAhQkQLYYwxxhhjsN4AHtZTKMy68NMAAAAASUVORK5CYII=',
  'base64',
);

/** Image stored before the transaction that references it. */
export type StoredImage = Pick<Picture, 'blob' | 'size' | 'format'>;

export async function storeDemoImage(blobs: BlobStore, randomness: Randomness, png: Uint8Array): Promise<StoredImage> {
  const blob = randomness.uuid().replaceAll('-', '') as BlobKey;
  return { blob, size: await blobs.put(blob, inOneChunk(png)), format: 'png' };
}

export async function addDemoEmoji(
  tx: Transaction,
  realmId: RealmId,
  authorId: UserId,
  picture: StoredImage,
): Promise<void> {
  const { format } = picture;
  const { id } = await tx.customEmoji.add({
    ...{ realmId, name: DEMO_EMOJI_NAME, authorId, format },
    isAnimated: false,
    isDeactivated: false,
  });
  await tx.pictures.put(realmId, { ...picture, name: `emoji/${id}` });
}

// Names and roles from Zulip's development data, expected by test suites of existing clients.

export interface DemoPerson {
  readonly email: string;
  readonly fullName: string;
  readonly role: Role;
  /** Absent if not set. */
  readonly timezone?: string;
  readonly specialPermissions?: readonly SpecialPermission[];
}

export interface DemoChannel {
  readonly name: string;
  readonly description: string;
  readonly isPrivate?: boolean;
  /** True to subscribe all present and future users. */
  readonly isDefault?: boolean;
  /** Email addresses; the first user creates the channel. */
  readonly subscribers: readonly string[];
}

export const DEMO_REALM = {
  stringId: 'zulip',
  name: 'Zulip Dev',
  description: 'The Parley demo organization, under the names that Zulip gives to its own development data.',
} as const;

/** Name and description of the demo that visitors see. */
export const DEMO_LOOK = {
  name: 'The Globe',
  description: "A theatre company, and Parley's demo organization.",
} as const;

/** Settings that differ from those of a new organization. */
export const DEMO_SETTINGS: Partial<RealmSettings> = {
  organizationType: 'business',
  digestWeekday: 1,
  enableReadReceipts: true,
  inviteRequired: false,
  enableSpectatorAccess: true,
};

/** Announcement channel for new channels. */
export const DEMO_ANNOUNCEMENTS_CHANNEL = 'announce';
/** Author of the custom emoji. */
export const DEMO_EMOJI_AUTHOR = 'iago@zulip.com';

/** Creator of the custom profile fields. */
export const DEMO_ADMINISTRATOR = DEMO_EMOJI_AUTHOR;

/** Email visibility of the demo users and the default for new users: administrators only. */
export const DEMO_EMAIL_VISIBILITY = 'administrators';

const DESDEMONA = 'desdemona@zulip.com';
const IAGO = 'iago@zulip.com';
const SHIVA = 'shiva@zulip.com';
const AARON = 'AARON@zulip.com';
const CORDELIA = 'cordelia@zulip.com';
const HAMLET = 'hamlet@zulip.com';
const OTHELLO = 'othello@zulip.com';
const PROSPERO = 'prospero@zulip.com';
const ZOE = 'ZOE@zulip.com';
const POLONIUS = 'polonius@zulip.com';

export const DEMO_PEOPLE: readonly DemoPerson[] = [
  { email: AARON, fullName: 'aaron', role: 'member', timezone: 'America/Los_Angeles' },
  { email: ZOE, fullName: 'Zoe', role: 'member', timezone: 'America/New_York' },
  { email: CORDELIA, fullName: "Cordelia, Lear's daughter", role: 'member', timezone: 'Etc/UTC' },
  {
    email: DESDEMONA,
    fullName: 'Desdemona',
    role: 'owner',
    timezone: 'America/St_Johns',
    specialPermissions: ['canCreateUsers', 'canChangeUserEmails'],
  },
  { email: HAMLET, fullName: 'King Hamlet', role: 'member' },
  { email: IAGO, fullName: 'Iago', role: 'administrator', timezone: 'America/New_York' },
  { email: OTHELLO, fullName: 'Othello, the Moor of Venice', role: 'member', timezone: 'America/Los_Angeles' },
  { email: POLONIUS, fullName: 'Polonius', role: 'guest', timezone: 'Asia/Shanghai' },
  { email: PROSPERO, fullName: 'Prospero from The Tempest', role: 'member' },
  { email: SHIVA, fullName: 'शिव', role: 'moderator', timezone: 'Asia/Kolkata' },
];

export interface DemoProfileField {
  readonly name: string;
  readonly kind: ProfileFieldKind;
  readonly hint?: string;
  readonly data?: ProfileFieldData;
  readonly isInSummary?: boolean;
  /** Values by email; values for `users` are emails. */
  readonly values: Readonly<Record<string, string | readonly string[]>>;
}

/** Fields and values from Zulip's development data. */
export const DEMO_PROFILE_FIELDS: readonly DemoProfileField[] = [
  { name: 'Phone number', kind: 'shortText', values: { [IAGO]: '+1-234-567-8901', [HAMLET]: '+0-11-23-456-7890' } },
  {
    name: 'Biography',
    kind: 'longText',
    hint: 'What are you known for?',
    values: {
      [IAGO]: 'Betrayer of Othello.',
      [HAMLET]: 'I am:\n* The prince of Denmark\n* Nephew to the usurping Claudius',
    },
  },
  {
    name: 'Favorite food',
    kind: 'shortText',
    hint: "Or drink, if you'd prefer",
    values: { [IAGO]: 'Apples', [HAMLET]: 'Dark chocolate' },
  },
  {
    name: 'Favorite editor',
    kind: 'choice',
    data: { '0': { text: 'Vim', order: '1' }, '1': { text: 'Emacs', order: '2' } },
    isInSummary: true,
    values: { [IAGO]: '1', [HAMLET]: '0' },
  },
  { name: 'Birthday', kind: 'date', isInSummary: true, values: { [IAGO]: '2000-01-01', [HAMLET]: '1900-01-01' } },
  {
    name: 'Favorite website',
    kind: 'link',
    hint: "Or your personal blog's URL",
    values: { [IAGO]: 'https://zulip.readthedocs.io/en/latest/', [HAMLET]: 'https://blog.zulig.org' },
  },
  { name: 'Mentor', kind: 'users', values: { [IAGO]: [HAMLET], [HAMLET]: [IAGO] } },
  {
    name: 'GitHub username',
    kind: 'externalAccount',
    data: { subtype: 'github' },
    values: { [IAGO]: 'zulip', [HAMLET]: 'zulipbot' },
  },
  { name: 'Pronouns', kind: 'pronouns', hint: 'What pronouns should people use to refer to you?', values: {} },
];

/** Seconds since each user was last active, at the creation of the demo. */
export const DEMO_PRESENCES: Readonly<Record<string, number>> = {
  [HAMLET]: 10,
  [IAGO]: 60,
  [CORDELIA]: 600,
  [OTHELLO]: 7200,
  [DESDEMONA]: 86_400,
  [AARON]: 3 * 86_400,
};

export const passwordOf = ({ email }: Pick<DemoPerson, 'email'>): string => `pw-${email.toLowerCase()}`;

/** Accounts offered by the log-in page. */
export const DEMO: Demo = {
  realm: DEMO_REALM.stringId,
  accounts: DEMO_PEOPLE.map((person) => ({
    name: person.fullName,
    email: person.email,
    password: passwordOf(person),
  })),
};

const EVERYBODY = DEMO_PEOPLE.map(({ email }) => email);

export const DEMO_CHANNELS: readonly DemoChannel[] = [
  {
    name: 'Denmark',
    description: 'A Scandinavian country',
    subscribers: [IAGO, DESDEMONA, SHIVA, HAMLET, OTHELLO, PROSPERO, ZOE],
  },
  {
    name: 'Verona',
    description: 'A city in Italy',
    subscribers: [IAGO, ...EVERYBODY.filter((email) => email !== IAGO)],
  },
  {
    name: 'Venice',
    description: 'A northeastern Italian city',
    subscribers: [DESDEMONA, OTHELLO, PROSPERO, ZOE],
  },
  { name: 'Rome', description: 'Yet another Italian city', subscribers: [IAGO, PROSPERO, ZOE] },
  {
    name: 'Scotland',
    description: 'Located in the United Kingdom',
    subscribers: [IAGO, SHIVA, OTHELLO, PROSPERO, ZOE],
  },
  {
    name: 'core team',
    description: 'A private channel for core team members',
    isPrivate: true,
    subscribers: [DESDEMONA, IAGO, HAMLET],
  },
  {
    name: 'general',
    description: 'Whatever concerns everybody',
    isDefault: true,
    subscribers: [DESDEMONA, ...EVERYBODY.filter((email) => email !== DESDEMONA)],
  },
  {
    name: 'sandbox',
    description: 'A place to try things out',
    isDefault: true,
    subscribers: [DESDEMONA, ...EVERYBODY.filter((email) => email !== DESDEMONA)],
  },
  {
    name: DEMO_ANNOUNCEMENTS_CHANNEL,
    description: 'For announcements',
    subscribers: [DESDEMONA, ...EVERYBODY.filter((email) => email !== DESDEMONA)],
  },
];

/** Participants of the direct conversations. */
export const DEMO_DIRECT_CONVERSATIONS: readonly (readonly string[])[] = [
  [HAMLET, CORDELIA],
  [IAGO, DESDEMONA],
  [OTHELLO, DESDEMONA, IAGO],
  [PROSPERO, ZOE, AARON, SHIVA],
  [POLONIUS, HAMLET],
  [PROSPERO],
];
