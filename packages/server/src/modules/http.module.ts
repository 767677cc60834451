import { VerifyApiKey, VerifySession } from '@parley/domain/authentication';
import { EventHub } from '@parley/domain/events';
import { BlobReceiver } from '@parley/domain/files';
import { PresenceBoard } from '@parley/domain/presence';
import {
  BasicAuthenticator,
  contractPathOf,
  createDispatcher,
  createRoutes,
  ERROR_REPLIES,
  EVENT_WRITER,
  ipGroup,
  KeyParameterAuthenticator,
  LongPoll,
  networkOf,
  PublicRealms,
  RateLimiter,
  SessionAuthenticator,
  SessionCookies,
} from '@parley/http';
import { ContainerModule } from 'inversify';
import { ApiKeyCredentials } from '../authentication/api-key-credentials.js';
import { HostAuthenticator } from '../authentication/host-authenticator.js';
import { StoredRoles } from '../authentication/stored-roles.js';
import { StoredSessions } from '../authentication/stored-sessions.js';
import { DailyChannelQuota } from '../daily-channel-quota.js';
import { LimitReset } from '../limit-reset.js';
import { LetterLimits } from '../mail/letter-limits.js';
import type { ParleyParts } from '../parley-parts.js';
import { all, provide, provideAs, provideFrom } from '../provide.js';
import { RealmResolver } from '../realm-resolver.js';
import { LISTS, PARTS, TOKENS } from '../tokens.js';

const {
  channelQuota,
  clock,
  fileLimits,
  letterQuota,
  loginAttempts,
  randomness,
  realmUrls,
  spectatedFiles,
  unitOfWork,
} = TOKENS;

/** From requests to use cases. */
export const httpModule = ({ authenticate, ...options }: ParleyParts) =>
  new ContainerModule(({ bind }) => {
    provideFrom(
      bind,
      RateLimiter,
      (time) => new RateLimiter({ clock: time, isOn: options.hasRateLimits, rules: options.rateLimitRules ?? {} }),
      clock,
    );
    provide(bind, LimitReset, RateLimiter);
    provideAs(bind, LISTS.eventListener, LimitReset);
    provide(bind, DailyChannelQuota, RateLimiter, clock);
    provideAs(bind, channelQuota, DailyChannelQuota);
    provide(bind, LetterLimits, RateLimiter);
    provideAs(bind, letterQuota, LetterLimits);
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

    provideFrom(
      bind,
      spectatedFiles,
      (limiter) => ({
        count: ({ id }) => {
          if (limiter.isOn) limiter.attempt('spectator_attachment_access_by_file', String(id));
        },
      }),
      RateLimiter,
    );

    provide(bind, RealmResolver, unitOfWork, clock, PARTS.options);
    provideAs(bind, realmUrls, RealmResolver);
    provide(bind, PublicRealms, unitOfWork, realmUrls);
    provide(bind, StoredRoles, unitOfWork);
    if (authenticate) {
      // The host application's log-in comes before API keys.
      provideFrom(
        bind,
        HostAuthenticator,
        (uow, realmResolver) => new HostAuthenticator(authenticate, uow, realmResolver),
        unitOfWork,
        RealmResolver,
      );
      provideAs(bind, LISTS.authenticator, HostAuthenticator);
      provideAs(bind, LISTS.browserAuthenticator, HostAuthenticator);
    }
    provide(bind, ApiKeyCredentials, VerifyApiKey, RealmResolver);
    provide(bind, BasicAuthenticator, ApiKeyCredentials);
    provideAs(bind, LISTS.authenticator, BasicAuthenticator);
    provide(bind, KeyParameterAuthenticator, ApiKeyCredentials);
    provide(bind, StoredSessions, VerifySession, RealmResolver);
    provide(bind, SessionAuthenticator, StoredSessions);
    provideAs(bind, LISTS.browserAuthenticator, SessionAuthenticator);

    provideFrom(
      bind,
      LongPoll,
      (hub, publicRealms, random) => new LongPoll(EVENT_WRITER, hub, publicRealms, random),
      EventHub,
      PublicRealms,
      randomness,
    );
    provideFrom(
      bind,
      PARTS.routes,
      (addresses, hub, longPoll, publicRealms, presence, time, files) => [
        ...createRoutes({
          realmUrls: addresses,
          hub,
          longPoll,
          publicRealms,
          presence,
          sessionCookies: new SessionCookies(options.url),
          clock: time,
          unicodeEmoji: options.unicodeEmoji,
          serverInfo: {
            startedAt: time.now(),
            isDevelopment: options.isDev,
            webPublicEnabled: options.allowsWebPublicChannels,
            fileLimits: files,
            hasBigBlueButton: Boolean(options.bigBlueButton),
          },
        }),
        ...(options.moreRoutes ?? []),
      ],
      realmUrls,
      EventHub,
      LongPoll,
      PublicRealms,
      PresenceBoard,
      clock,
      fileLimits,
    );
    provideFrom(
      bind,
      PARTS.dispatcher,
      (
        routes,
        resolve,
        authenticators,
        browserAuthenticators,
        keyParameter,
        files,
        realms,
        roleLookup,
        limiter,
        time,
        load,
      ) =>
        createDispatcher({
          errorReplies: ERROR_REPLIES,
          contractPathOf,
          routes,
          resolve,
          authenticators,
          browserAuthenticators,
          isHostAuthenticated: authenticate !== undefined,
          ...(options.trustedOrigins && { trustedOrigins: options.trustedOrigins }),
          publicUrl: options.url,
          keyParameter,
          files,
          realms,
          roleLookup,
          limiter,
          clock: time,
          load,
          logger: options.logger,
          ...(options.metrics && { observers: [options.metrics] }),
          ...(options.tracer && { tracer: options.tracer }),
          trustedProxies: options.trustedProxies,
          ...(options.limits && { limits: options.limits }),
          realmsByPath: options.realmAddresses === 'path',
          hasKnownPasswords: options.isDemo ?? false,
        }),
      PARTS.routes,
      PARTS.resolve,
      all(LISTS.authenticator),
      all(LISTS.browserAuthenticator),
      KeyParameterAuthenticator,
      BlobReceiver,
      RealmResolver,
      StoredRoles,
      RateLimiter,
      clock,
      PARTS.load,
    );
  });

/** Of one network there may be thousands of addresses. */
const sourceOf = (ip: string | undefined): string | undefined =>
  ip === undefined ? undefined : (networkOf(ip) ?? ipGroup(ip));
