// biome-ignore-all lint/suspicious/noEmptyInterface: features add to them.

// Types with one entry per feature. A feature adds its entries by declaration merging, in one block:
//
//     declare module '../kernel/feature-types.js' {
//       interface RepositoryMap { … }
//       interface ErrorCodes extends SnippetErrors {}
//     }

/**
 * Repositories by name, each a pair of types for reading (`never`: not available) and writing units of work. Features
 * add theirs next to the port.
 */
export interface RepositoryMap {}

/** Changes that this process reacts to once committed. */
export interface UnitChanges {}

/** All error codes, see `declareErrors`. */
export interface ErrorCodes {}

/** Error details by code, in domain terms. Codes not listed have none. */
export interface ErrorDetails {}

/**
 * Logged event types with their data as plain JSON values (maps are lists of pairs), complete enough for every client
 * format.
 */
export interface DomainEventTypes {}

/** Ephemeral events, which are not logged and reach live queues at most once. */
export interface EphemeralEventTypes {}

/** All kinds of audience. Features add the rules in composition/features.ts. */
export interface AudienceTypes {}

/** Messages between servers that share a database, as plain JSON values. */
export interface BusHintTypes {}

/** Data of an organization in an export. */
export interface RealmCopyParts {}

/** Personal data of one user in an export. */
export interface PersonCopyParts {}

/** Kinds of objects with ids that clients see. */
export interface IdKindParts {}

// Types that delivery passes on without reading them. Features add properties in `<area>-delivery.ts`.

/** Properties of a queue's owner that are known for every event. */
export interface QueueOwner {}

/** Rights of a queue's owner when reading the log, as of one event. */
export interface QueueOwnerRights extends QueueOwner {}

/** User with caught-up queues and the state that audiences read, updated from the log. */
export interface OnlineUser {}

/** Initial state of a fan-out, which then follows the log. */
export interface RealmSnapshot {}

/** Results of storage look-ups for audiences. */
export interface AudienceResults {}

/** Users included in storage look-ups. */
export interface LookupUsers {}

/** State of one user as of one event, read when deciding audiences. Features add methods for their kinds. */
export interface Membership {}

/** Look-ups required by audiences: lists of distinct ids. */
export interface AudienceQuestions {}

/** Receiver data read when presenting an event. */
export interface Receiver {}

/** Look-ups needed before presenting an event, beyond its own data. */
export interface EventNeeds {}
