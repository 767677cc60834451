import type { LoadUnicodeEmoji } from '@parley/domain/files';
import type { AnyEventType, Clock, EventHub, RealmUrls } from '@parley/domain/kernel';
import type { PresenceBoard } from '@parley/domain/users';
import type { MessagePart, Presenters } from '../delivery/event-presenter.js';
import type { LongPoll } from '../delivery/long-poll.js';
import type { PublicRealms } from '../delivery/public-realm.js';
import type { SessionCookies } from '../security/authenticate.js';
import type { ByteStream, WireErrors } from '../wire/reply.js';
import type { WireSchema } from '../wire/schema.js';
import type { Tag } from './operation.js';
import type { RegisterSection } from './register-section.js';
import type { Route } from './route.js';
import type { ServerInfo } from './server-info.js';

/** Built web client. */
export interface WebAssets {
  /**
   * HTML of the application with relative file addresses (`./…`), or null if it has not been built. Absent if only the
   * element is served.
   */
  page?(): Promise<string | null>;
  /** Opens a file with a content digest in its name; null for unknown names. */
  open(name: string, acceptedEncodings: string): Promise<WebAsset | null>;
}

export interface WebAsset {
  readonly contentType: string;
  /** Absent if the file is sent unencoded. */
  readonly contentEncoding?: string;
  readonly body: ByteStream;
}

/** Dependencies of presenters besides use case results. */
export interface RouteDependencies {
  readonly realmUrls: RealmUrls;
  readonly hub: EventHub;
  readonly longPoll: LongPoll;
  readonly serverInfo: ServerInfo;
  readonly clock: Clock;
  readonly unicodeEmoji: LoadUnicodeEmoji;
  readonly publicRealms: PublicRealms;
  readonly presence: PresenceBoard;
  readonly sessionCookies: SessionCookies;
  /** Null without a web client. */
  readonly webAssets: WebAssets | null;
  /** Origins with pages that may show the chat in a frame. */
  readonly frameAncestors: readonly string[];
}

/** Dependencies of the sections of the register response. */
export interface SectionParts extends Pick<RouteDependencies, 'realmUrls' | 'serverInfo' | 'presence'> {
  /** Returns the server's only instance, created by `make` on first use. */
  readonly once: <T>(make: (dependencies: RouteDependencies) => T) => T;
}

/** Dependencies of routes, created once per server; features contribute some of them. */
export interface RouteParts extends RouteDependencies, SectionParts {
  /** Sections of the register response, in response order. */
  readonly sections: readonly RegisterSection[];
  /** Schema of any event as sent to clients (events §7). */
  readonly event: WireSchema<object>;
  /** Fields that features add to messages. */
  readonly messageParts: MessagePart;
}

/**
 * Contribution of one feature to the API. Declare it with `satisfies` so that the compiler can infer its events;
 * `features.ts` reports events without a presenter.
 */
export interface HttpFeature {
  /** Tag of the feature's operations in the OpenAPI document. */
  readonly tag?: Tag;
  /** Created per server, so routes may hold per-server state. */
  readonly routes?: (parts: RouteParts) => readonly Route[];
  readonly events?: Partial<Presenters<AnyEventType>>;
  /** Presentation of errors other than a plain 400 with its own text. */
  readonly errors?: WireErrors;
  /** Initial state for clients (events §3.2). Field names are unique across sections. */
  readonly registerSections?: (parts: SectionParts) => readonly RegisterSection[];
  readonly messageParts?: readonly MessagePart[];
}
