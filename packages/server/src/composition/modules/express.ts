import type { Injectable } from '@parley/domain/composition';
import { BlobReceiver } from '@parley/domain/files';
import { VerifyAccessToken } from '@parley/domain/log-in';
import { PresenceBoard, VerifyApiKey, VerifyFrameToken, VerifySession } from '@parley/domain/users';
import {
  type Authenticator,
  BasicAuthenticator,
  createExpressAdapter,
  createRoutes,
  type Demo,
  ERROR_REPLIES,
  EVENT_WRITER,
  KeyParameterAuthenticator,
  type LoadGauge,
  LongPoll,
  NamedKeyAuthenticator,
  noLoad,
  type ProxyTrust,
  PublicRealms,
  type RequestTracer,
  type Route,
  SessionAuthenticator,
  SessionCookies,
  silentLogger,
  type TransportLimits,
  type TrustedOrigins,
  type WebAssets,
} from '@parley/http';
import { type HostAuthenticate, HostAuthenticator } from '../../facade/host-authentication.js';
import {
  AccessTokenAuthenticator,
  ApiKeyCredentials,
  FrameTokenAuthenticator,
  StoredRoles,
  StoredSessions,
} from '../../http/authentication.js';
import { RealmResolver } from '../../kernel/realm-resolver.js';
import { HttpAuditRecorder, StoredAuditStates } from '../../observation/audited-objects.js';
import type { ServerMetrics } from '../../observation/metrics.js';
import type { Activity } from '../../workers/activity.js';
import { LoadMonitor } from '../../workers/load-monitor.js';
import { Adapter, type Parts } from '../adapter.js';
import type { WorkerOptions } from '../background-workers.js';
import type { DomainOptions } from './domain.js';

export interface ExpressOptions
  extends Pick<DomainOptions, 'url' | 'isDev' | 'isQuiet' | 'allowsWebPublicChannels' | 'realmAddresses'>,
    Pick<WorkerOptions, 'shedsLoad'> {
  /** Routes in addition to those of the API. */
  readonly moreRoutes?: readonly Route[];
  /** Web client for the start page; default: none. */
  readonly webAssets?: WebAssets | null;
  /** GIPHY API key for clients; default: none. */
  readonly giphyApiKey?: string | null;
  /** Demo organization with public passwords; default: none. */
  readonly demo?: Demo;
  readonly authenticate?: HostAuthenticate;
  /**
   * Origins in addition to Parley's own that may send requests with the cookies accepted by `authenticate`; default:
   * none.
   */
  readonly trustedOrigins?: TrustedOrigins;
  /** Origins that may embed the chat in a frame; default: none. */
  readonly frameAncestors?: readonly string[];
  readonly trustedProxies: ProxyTrust;
  /** Default: those of `TRANSPORT_LIMITS`. */
  readonly limits?: Partial<TransportLimits>;
  /** Records every response; default: no metrics. */
  readonly metrics?: ServerMetrics;
  readonly tracer?: RequestTracer;
}

/** HTTP API and pages on Express. */
export const express = (options: ExpressOptions) =>
  new Adapter({
    express: (parts) => createExpressAdapter(applicationOf(options, parts)),
    routes: (parts) => [...createRoutes(routePartsOf(options, parts)), ...(options.moreRoutes ?? [])],
    longPoll: ({ get }) => new LongPoll(EVENT_WRITER, get('hub'), get('publicRealms'), get('randomness')),
    publicRealms: ({ get }) => new PublicRealms(get('unitOfWork'), get('realmUrls')),
    load: ({ get, resolve }) => recording(get('activity'), options.shedsLoad ? resolve(LoadMonitor) : noLoad),
    hostAuthentication: () => ({ isOn: options.authenticate !== undefined }),
    hostAuthenticators: ({ get, resolve }) =>
      options.authenticate
        ? [new HostAuthenticator(options.authenticate, get('unitOfWork'), resolve(RealmResolver), get('logger'))]
        : [],
    authenticators: (parts) => authenticatorsOf(options, parts),
    browserAuthenticators: ({ get, resolve }) => [
      ...get('hostAuthenticators'),
      new SessionAuthenticator(new StoredSessions(resolve(VerifySession), resolve(RealmResolver))),
    ],
  });

/** Records each request, which reads the load first. */
const recording = (activity: Activity, load: LoadGauge): LoadGauge => ({
  get level() {
    activity.record();
    return load.level;
  },
});

const credentialsOf = ({ resolve }: Parts) => new ApiKeyCredentials(resolve(VerifyApiKey), resolve(RealmResolver));

function authenticatorsOf({ frameAncestors = [], url }: ExpressOptions, parts: Parts): readonly Authenticator[] {
  const { get, resolve } = parts;
  const basic = new BasicAuthenticator(credentialsOf(parts));
  const ofHost = get('hostAuthenticators');
  return [
    // Their form is unmistakable, so the application need not know them.
    new AccessTokenAuthenticator(resolve(VerifyAccessToken), resolve(RealmResolver), url),
    // The application may itself use Basic authentication, but not with API keys.
    ...(ofHost.length > 0 ? [new NamedKeyAuthenticator(basic), ...ofHost] : []),
    ...(frameAncestors.length > 0
      ? [new FrameTokenAuthenticator(resolve(VerifyFrameToken), resolve(RealmResolver))]
      : []),
    basic,
  ];
}

function routePartsOf(options: ExpressOptions, { get, resolve }: Parts): Parameters<typeof createRoutes>[0] {
  const { frameAncestors = [] } = options;
  return {
    realmUrls: get('realmUrls'),
    hub: get('hub'),
    longPoll: get('longPoll'),
    publicRealms: get('publicRealms'),
    presence: resolve(PresenceBoard),
    sessionCookies: new SessionCookies(options.url),
    webAssets: options.webAssets ?? null,
    frameAncestors,
    clock: get('clock'),
    unicodeEmoji: get('unicodeEmoji'),
    serverInfo: {
      startedAt: get('clock').now(),
      isDevelopment: options.isDev,
      webPublicEnabled: options.allowsWebPublicChannels,
      fileLimits: get('fileLimits'),
      hasBigBlueButton: get('meetingServer') !== null,
      giphyApiKey: options.giphyApiKey ?? '',
      sendsPushes: get('pushService') !== null,
      directoryRealms: new Set(get('peopleDirectories').map(({ realm }) => realm)),
      logInKinds: new Set(get('logInProviders').map(({ method }) => method.kind)),
      demo: options.demo ?? null,
      isQuiet: options.isQuiet ?? false,
    },
  };
}

function applicationOf(options: ExpressOptions, parts: Parts): Parameters<typeof createExpressAdapter>[0] {
  const { get, resolve } = parts;
  return {
    routes: get('routes'),
    errorReplies: ERROR_REPLIES,
    resolve: resolve as <C extends Injectable>(type: C) => InstanceType<C>,
    authenticators: get('authenticators'),
    browserAuthenticators: get('browserAuthenticators'),
    isHostAuthenticated: get('hostAuthentication').isOn,
    ...(options.trustedOrigins && { trustedOrigins: options.trustedOrigins }),
    publicUrl: options.url,
    keyParameter: new KeyParameterAuthenticator(credentialsOf(parts)),
    files: resolve(BlobReceiver),
    realms: resolve(RealmResolver),
    roleLookup: new StoredRoles(get('unitOfWork')),
    ...(get('logger') !== silentLogger && { audits: new StoredAuditStates(get('unitOfWork')) }),
    auditRecorder: new HttpAuditRecorder(get('auditTrail'), get('clock')),
    limiter: get('limiter'),
    load: get('load'),
    logger: get('logger'),
    ...(options.metrics && { observers: [options.metrics] }),
    ...(options.tracer && { tracer: options.tracer }),
    trustedProxies: options.trustedProxies,
    ...(options.limits && { limits: options.limits }),
    realmsByPath: options.realmAddresses === 'path',
    hasKnownPasswords: Boolean(options.demo),
  };
}
