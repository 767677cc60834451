export { CONTRACT_OPERATIONS, type ContractOperation, contractPathOf } from './contract-operations.js';
export { EVENT_CATALOGUE, EVENT_WRITER } from './event-catalogue.js';
export { eventTypeName } from './events/event-forms.js';
export { LongPoll } from './events/long-poll.js';
export { PublicRealms } from './events/public-realms.js';
export type { RouteDependencies } from './feature.js';
export { ERROR_REPLIES } from './features.js';
export { permissionTitle } from './groups/permission-title.js';
export { compactAnswerSchemaOf } from './openapi/openapi.js';
export { pngChunk } from './pictures/png-chunk.js';
export { REALM_SETTING_FORMS } from './realms/realm-settings.wire.js';
export { createRoutes } from './routes.js';
export {
  type Authenticator,
  BasicAuthenticator,
  type BrowserSessions,
  type Credentials,
  type Identity,
  KeyParameterAuthenticator,
  type RealmDirectory,
  SessionAuthenticator,
} from './routing/authenticate.js';
export { SessionCookies } from './routing/cookies.js';
export type { TrustedOrigins } from './routing/csrf.js';
export { createDispatcher, type Dispatcher } from './routing/dispatcher.js';
export type { ErrorReplies } from './routing/error-replies.js';
export { unauthorized, unknownPath } from './routing/errors.js';
export { ipGroup, networkOf } from './routing/ip-groups.js';
export { type LimitRule, parseRateLimitRules, type RateLimitRules } from './routing/limit-rules.js';
export { type LoadGauge, type LoadLevel, noLoad } from './routing/load.js';
export { isLoopbackName } from './routing/local-access.js';
export { type Logger, silentLogger, warn } from './routing/logger.js';
export type { Middleware } from './routing/middleware.js';
export { createRouter, dispatchHotFirst } from './routing/mount.js';
export type { AnsweredRequest, RequestObserver, RequestSpan, RequestTracer } from './routing/observation.js';
export { type Member, membersOfDto } from './routing/params.js';
export { RateLimiter, rateLimited } from './routing/rate-limit.js';
export { success } from './routing/reply.js';
export type { Request } from './routing/request.js';
export type { CallerRole, RoleLookup } from './routing/role-requirements.js';
export { type Route, route } from './routing/route.js';
export { TRANSPORT_LIMITS, type TransportLimits } from './routing/transport-limits.js';
export { type ProxyTrust, parseNetworks, TrustedProxies } from './routing/trusted-proxies.js';
export { FEATURE_LEVEL, ZULIP_VERSION } from './server-settings/server-version.js';
export { USER_SETTING_FORMS } from './users/user-settings.wire.js';
