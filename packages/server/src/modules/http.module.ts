import { EventHub, VerifyApiKey } from '@parley/domain';
import {
  BasicAuthenticator,
  createDispatcher,
  createRoutes,
  ipGroup,
  LongPoll,
  networkOf,
  RateLimiter,
  RealmPlaces,
} from '@parley/http';
import { ContainerModule } from 'inversify';
import { ApiKeyCredentials } from '../authentication/api-key-credentials.js';
import { HostAuthenticator } from '../authentication/host-authenticator.js';
import { StoredStandings } from '../authentication/stored-standings.js';
import { DailyChannelQuota } from '../daily-channel-quota.js';
import type { Assembly } from '../parley.js';
import { all, provide, provideAs, provideFrom } from '../provide.js';
import { RealmAddressBook } from '../realm-address-book.js';
import { LISTS, PARTS, TOKENS } from '../tokens.js';

const { channelQuota, clock, loginAttempts, randomness, realmAddresses, unitOfWork } = TOKENS;

/** From requests to use cases. */
export const httpModule = ({ authenticate, ...options }: Assembly) =>
  new ContainerModule(({ bind }) => {
    provideFrom(bind, RateLimiter, (time) => new RateLimiter({ clock: time, isOn: options.hasRateLimits }), clock);
    provide(bind, DailyChannelQuota, RateLimiter, clock);
    provideAs(bind, channelQuota, DailyChannelQuota);
    provideFrom(
      bind,
      loginAttempts,
      (limiter) => ({
        attempt: (key, ip) => limiter.attempt('authenticate_by_username', key, sourceOf(ip)),
        withdraw: (key, ip) => limiter.withdraw('authenticate_by_username', key, sourceOf(ip)),
        forget: (key, ip) => limiter.forget('authenticate_by_username', key, sourceOf(ip)),
      }),
      RateLimiter,
    );

    provide(bind, RealmAddressBook, unitOfWork, clock, PARTS.options);
    provideAs(bind, realmAddresses, RealmAddressBook);
    provide(bind, RealmPlaces, unitOfWork, realmAddresses);
    provide(bind, StoredStandings, unitOfWork);
    if (authenticate) {
      // The host application's log-in comes before API keys.
      provideFrom(
        bind,
        LISTS.authenticator,
        (uow, addressBook) => new HostAuthenticator(authenticate, uow, addressBook),
        unitOfWork,
        RealmAddressBook,
      );
    }
    provide(bind, ApiKeyCredentials, VerifyApiKey, RealmAddressBook);
    provide(bind, BasicAuthenticator, ApiKeyCredentials);
    provideAs(bind, LISTS.authenticator, BasicAuthenticator);

    provide(bind, LongPoll, EventHub, RealmPlaces, randomness, PARTS.report);
    provideFrom(
      bind,
      PARTS.routes,
      (addresses, hub, longPoll, time) => [
        ...createRoutes({
          addresses,
          hub,
          longPoll,
          clock: time,
          emojiNames: options.emojiNames,
          facts: {
            startedAt: time.now(),
            isDevelopment: options.isDev,
            webPublicEnabled: options.allowsWebPublicChannels,
          },
        }),
        ...(options.moreRoutes ?? []),
      ],
      realmAddresses,
      EventHub,
      LongPoll,
      clock,
    );
    provideFrom(
      bind,
      PARTS.dispatcher,
      (routes, resolve, authenticators, realms, gatekeeper, limiter, time, load) =>
        createDispatcher({
          routes,
          resolve,
          authenticators,
          realms,
          gatekeeper,
          limiter,
          clock: time,
          load,
          logger: options.logger,
          trustedProxies: options.trustedProxies,
          limits: options.limits,
          publicHost: new URL(options.url).hostname,
          hasKnownPasswords: options.isDemo,
        }),
      PARTS.routes,
      PARTS.resolve,
      all(LISTS.authenticator),
      RealmAddressBook,
      StoredStandings,
      RateLimiter,
      clock,
      PARTS.load,
    );
  });

/** Of one network there may be thousands of addresses. */
const sourceOf = (ip: string | undefined): string | undefined =>
  ip === undefined ? undefined : (networkOf(ip) ?? ipGroup(ip));
