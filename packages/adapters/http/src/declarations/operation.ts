/** Tags that group operations in the OpenAPI document, in its order, with descriptions. */
export const TAGS = {
  'Server and log-in': 'Properties of the server, API keys and browser sessions.',
  Events: 'Initial state and later changes. Register a queue, then poll it.',
  Messages: 'Sending, reading, editing and marking messages.',
  'Drafts, snippets and schedules': 'Texts kept for later.',
  Channels: 'Channels, subscriptions, topics and folders.',
  Users: 'Accounts, profiles, presence and personal settings.',
  Groups: 'User groups and their members.',
  Organization: 'Settings, domains, linkifiers, emoji, profile fields and exports.',
  Invitations: 'Invitations by email and by link.',
  'Bots and integrations': 'Bots, their storage, incoming webhooks and calls.',
  Files: 'Uploads, avatars, icons and other images.',
  'Push notifications': 'Registration of phones and browsers.',
} as const;

export type Tag = keyof typeof TAGS;

/** Reasons why the web client does not call an operation, as shown in `docs/compatibility.md`. */
export const WITHOUT_PAGE = {
  bots: 'for bots and integrations',
  apps: 'for apps on phones and other clients',
  scripts: 'for hosts and scripts of administrators',
  development: 'for development and the client package',
  addresses: 'for pages without scripts, file addresses and uploads in parts',
  state: 'the state has its response already',
  others: 'another operation does the same',
  calls: 'the call provider cannot be configured yet',
} as const;

export type WithoutPage = keyof typeof WITHOUT_PAGE;

/** Areas of the contract in document order. */
export const CONTRACT_AREAS = ['protocol', 'events', 'messages', 'channels', 'users', 'organization'] as const;

/** Section in docs/contract, such as `messages §5`. */
export type ContractSection = `${(typeof CONTRACT_AREAS)[number]} §${string}`;

/** Section of a document about Parley's additional operations, such as `extensions §3`. */
export type ExtensionSection = `extensions §${string}`;

/** Description of an operation, from which the OpenAPI document and docs/compatibility.md are generated. */
export type OperationDocs = {
  /** Purpose, as an imperative sentence without a full stop. */
  readonly summary: string;
  /** True if docs/contract/README.md lists it among the twenty operations requested first. */
  readonly isStarred?: boolean;
  /** Required behavior that is not implemented. */
  readonly lacks?: string;
  /** Required below `/api/v1` if the web client does not call the operation. */
  readonly withoutPage?: WithoutPage;
  /** Defaults to the tag of the feature. */
  readonly tag?: Tag;
} & (
  | { readonly section: ContractSection; readonly extension?: never }
  | { readonly extension: ExtensionSection; readonly section?: never }
);

/** Marks routes that are not documented: pages, variants for spectators, and protocols of other programs. */
export interface Undocumented {
  readonly summary: null;
}
