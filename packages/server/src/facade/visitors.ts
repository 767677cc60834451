import type { JsonObject } from '@parley/domain/kernel';
import { FindVisitor, InheritFromVisitor, KeepVisitorAccount, StartVisit, VISIT_DAYS } from '@parley/domain/log-in';
import type { Resolve } from '../kernel/resolve.js';
import { integer, object, optional } from '../kernel/values.js';
import { properties, TEXT, USER_PROPERTIES } from './argument-types.js';
import { type ChatUser, presentUser } from './chat-messages.js';
import { parsedData, presentData, requireFit, setData } from './host-data.js';
import type { Users, UserToUpsert } from './people.js';
import { Addresses } from './references.js';

export interface VisitorToStart {
  readonly realm: string;
  /** Default: `Visitor`. */
  readonly name?: string;
  /** Address of the browser, such as `request.ip`, which limits its new visitors. Default: no limit by address. */
  readonly address?: string;
  /** Days until the visitor is erased, from 1 to 365. Default: 30. */
  readonly days?: number;
  /** Data of your application, such as the page on which the visit began. */
  readonly data?: JsonObject;
}

export interface StartedVisitor {
  /** Guest without channels. */
  readonly user: ChatUser;
  /** Secret for a cookie of the browser. */
  readonly token: string;
  readonly expiresAt: Date;
}

export interface VisitorRef {
  readonly realm: string;
  /** Token from `start`. */
  readonly token: string;
}

/** Chats of people before they log in to the host application. */
export interface Visitors {
  /** @throws DomainError RATE_LIMITED after ten visitors from an address in an hour */
  start(visitor: VisitorToStart): Promise<StartedVisitor>;
  /** Returns the visitor for `authenticate`; null if the token is wrong, has expired or belongs to a customer now. */
  find(visitor: VisitorRef): Promise<{ readonly realm: string; readonly userId: number } | null>;
  /**
   * Makes the visitor the user with this external id, after log-in. A user without an account gets the visitor's.
   * Otherwise, the user joins the visitor's channels, gets the newest 1,000 messages there and in 100 direct conversations
   * with their unread marks, and becomes the author of the visitor's messages and of 200 reactions; the visitor's account
   * remains, deactivated, under the user's name. Irreversible. Repeatable. @throws DomainError UNKNOWN_VISITOR
   */
  become(customer: VisitorRef & UserToUpsert): Promise<ChatUser>;
}

const START = object({
  realm: TEXT,
  name: optional(TEXT),
  address: optional(TEXT),
  days: optional(integer({ min: 1, max: VISIT_DAYS.max })),
  data: USER_PROPERTIES.data,
});
const VISITOR = object({ realm: TEXT, token: TEXT });
const CUSTOMER = object({ ...USER_PROPERTIES, token: TEXT });

export function visitorsOf(resolve: Resolve, users: Pick<Users, 'upsert'>): Visitors {
  const addresses = resolve(Addresses);
  return {
    async start(given) {
      const visitor = properties('The visitor', START, given);
      const { realm, name: fullName = 'Visitor', address: source = null, days = VISIT_DAYS.default } = visitor;
      const data = parsedData(visitor.data);
      const realmId = await addresses.realmId(realm);
      await requireFit(resolve, realmId, 'user', data);
      const { user, token, expiresAt } = await resolve(StartVisit).execute({ realmId, fullName, source, days });
      const { externalId = null } = user;
      const stored = data ? await setData(resolve, { kind: 'user', id: user.id, realmId }, data) : presentData();
      return {
        user: presentUser({ user, externalId }, realm, stored),
        token,
        expiresAt: new Date(expiresAt * 1000),
      };
    },
    async find(given) {
      const { realm, token } = properties('The visitor', VISITOR, given);
      const user = await resolve(FindVisitor).execute({ realmId: await addresses.realmId(realm), token });
      return user && { realm, userId: user.id };
    },
    async become(given) {
      const { token, ...customer } = properties('The customer', CUSTOMER, given);
      const { externalId } = customer;
      const realmId = await addresses.realmId(customer.realm);
      const { id: visitorId } = await resolve(KeepVisitorAccount).execute({ realmId, token, externalId });
      const user = await users.upsert(customer);
      await resolve(InheritFromVisitor).execute({ realmId, visitorId, userId: user.id as typeof visitorId });
      return user;
    },
  };
}
