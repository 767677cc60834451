import type { Role } from '@parley/domain/access';
import type { RealmSettings } from '@parley/domain/realms';
import type { SpecialPermission } from '@parley/domain/users';

// Names and roles that Zulip's own development data uses, so that test suites of existing clients find who they expect.

export interface DemoPerson {
  readonly email: string;
  readonly fullName: string;
  readonly role: Role;
  /** Absent: not said. */
  readonly timezone?: string;
  readonly specialPermissions?: readonly SpecialPermission[];
}

export interface DemoChannel {
  readonly name: string;
  readonly description: string;
  readonly isPrivate?: boolean;
  /** Newcomers follow it, and so does everybody who is here already. */
  readonly isDefault?: boolean;
  /** Addresses; the first one creates the channel. */
  readonly subscribers: readonly string[];
}

export const DEMO_REALM = {
  stringId: 'zulip',
  name: 'Zulip Dev',
  description: 'The Parley demo organization, under the names that Zulip gives to its own development data.',
} as const;

/** Where they differ from what every organization starts with. */
export const DEMO_SETTINGS: Partial<RealmSettings> = {
  organizationType: 'business',
  digestWeekday: 1,
  enableReadReceipts: true,
  inviteRequired: false,
  enableSpectatorAccess: true,
};

/** Where new channels are announced. */
export const DEMO_ANNOUNCEMENTS_CHANNEL = 'announce';
/** Of the organization's own emoji. */
export const DEMO_EMOJI_AUTHOR = 'iago@zulip.com';

/** Administrators see addresses, others do not; those who join later start like that, too. */
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

export const passwordOf = ({ email }: Pick<DemoPerson, 'email'>): string => `pw-${email.toLowerCase()}`;

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

/** Who talks to whom in private. */
export const DEMO_DIRECT_CONVERSATIONS: readonly (readonly string[])[] = [
  [HAMLET, CORDELIA],
  [IAGO, DESDEMONA],
  [OTHELLO, DESDEMONA, IAGO],
  [PROSPERO, ZOE, AARON, SHIVA],
  [POLONIUS, HAMLET],
  [PROSPERO],
];
