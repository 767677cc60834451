import type { LoadUnicodeEmoji } from '@parley/domain/files';
import type { AnyEventType, Clock, EventHub, RealmUrls } from '@parley/domain/kernel';
import type { PresenceBoard } from '@parley/domain/users';
import type { SessionCookies } from './authenticate.js';
import type { Presenters } from './event-presenter.js';
import type { LongPoll } from './long-poll.js';
import type { MessagePart } from './message-parts.js';
import type { PublicRealms } from './public-realm.js';
import type { RegisterSection } from './register-section.js';
import type { WireErrors } from './reply.js';
import type { Route } from './route.js';
import type { ServerInfo } from './server-info.js';
import type { WireSchema } from './wire-schema.js';

/** What presenting needs beside what use cases answer. */
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
}

/** What sections of register's answer are made with. */
export interface SectionParts extends Pick<RouteDependencies, 'realmUrls' | 'serverInfo' | 'presence'> {
  /** Returns the one instance that `make` creates for this server. */
  readonly once: <T>(make: (dependencies: RouteDependencies) => T) => T;
}

/** What routes are made with: one for each server, of which some comes from features. */
export interface RouteParts extends RouteDependencies, SectionParts {
  /** Of register's answer, in its order. */
  readonly sections: readonly RegisterSection[];
  /** Any event, as clients get it (events §7). */
  readonly event: WireSchema<object>;
  /** What all features show with messages. */
  readonly messageParts: MessagePart;
}

/**
 * A feature's share of the API. Declared with `satisfies`, since the compiler has to know which events it presents:
 * `features.ts` reports those that nobody presents.
 */
export interface HttpFeature {
  /** Made for each server: what they keep at hand is theirs. */
  readonly routes?: (parts: RouteParts) => readonly Route[];
  readonly events?: Partial<Presenters<AnyEventType>>;
  /** How those of its refusals are presented that are no plain 400 with their own text. */
  readonly errors?: WireErrors;
  /** What a client can begin with (events §3.2). No two sections have a field in common. */
  readonly registerSections?: (parts: SectionParts) => readonly RegisterSection[];
  readonly messageParts?: readonly MessagePart[];
}
