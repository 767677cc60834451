import type { RealmUrls, UnitOfWork } from '@parley/domain/kernel';
import type { Resolve } from '../resolve.js';
import { type Chat, type ChatOptions, chatAs } from './chat.js';
import type { ConsumeOptions, Consumer, Consumers, EventHandler } from './consumers.js';
import { LiveEvents, type ParleyEvent, type ParleyEventType } from './events.js';
import { type Hook, type HookOptions, type HookTypes, HostHooks } from './message-hooks.js';
import { type Realms, realmsOf } from './realms.js';
import type { UserRef } from './references.js';
import { type Users, usersOf } from './users.js';

/** What an application calls every day. Refusals are thrown as `DomainError`, with a `code` and a `status`. */
export interface Facade {
  readonly realms: Realms;
  readonly users: Users;
  /** The chat as one user has it. Cheap: may be called for each request. */
  as(user: UserRef, options?: ChatOptions): Chat;
  /**
   * Calls back after the commit, also for what other processes of the same database commit; for what happens while nobody
   * listens use `consume`. Answers how it is ended.
   */
  on<T extends ParleyEventType>(type: T, listener: (event: ParleyEvent<T>) => unknown): () => void;
  /**
   * Hands every event to the handler, at least once, in the order of its organization, across restarts and crashes: where it
   * stands is stored under the name. A throw brings the same events again, later and later.
   * @throws DomainError INVALID_CONSUMER_NAME, TOO_MANY_CONSUMERS
   */
  consume<T extends ParleyEventType = ParleyEventType>(
    name: string,
    handler: EventHandler<T>,
    options?: ConsumeOptions<T>,
  ): Promise<Consumer>;
  /** Gives up the place of a consumer that is not needed any more: the log keeps what it has yet to read. Whether there was one. */
  forgetConsumer(name: string): Promise<boolean>;
  /** Asks before messages are sent or edited, whichever way. Answers how it is ended. */
  before<T extends keyof HookTypes>(type: T, hook: Hook<T>, options?: HookOptions): () => void;
}

export function facadeOf(resolve: Resolve, consumers: Consumers, uow: UnitOfWork, urls: RealmUrls): Facade {
  return {
    realms: realmsOf(uow, urls, resolve),
    users: usersOf(resolve),
    as: (ref, options) => chatAs(resolve, ref, options),
    on: (type, listener) => resolve(LiveEvents).on(type, listener),
    consume: (name, handler, options = {}) => consumers.consume(name, handler, options),
    forgetConsumer: (name) => consumers.forget(name),
    before: (type, hook, options) => resolve(HostHooks).before(type, hook, options),
  };
}
