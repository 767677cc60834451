export { EVENT_CATALOGUE, EVENT_WRITER } from './event-catalogue.js';
export { ERROR_REPLIES } from './features.js';
export { pngChunk } from './files/pictures.js';
export { permissionTitle } from './groups/group-settings.js';
export { AnomalousPayload, escapeText, Payload } from './integrations/integration.js';
export { INTEGRATIONS } from './integrations/integrations.js';
export * from './kernel/authenticate.js';
export { isLoopbackName, SessionCookies } from './kernel/authenticate.js';
export type { TrustedOrigins } from './kernel/csrf.js';
export { createDispatcher, type Dispatcher } from './kernel/dispatcher.js';
export { eventTypeName } from './kernel/event-presenter.js';
export type { RouteDependencies } from './kernel/feature.js';
export { type LoadGauge, type LoadLevel, noLoad, TRANSPORT_LIMITS, type TransportLimits } from './kernel/load.js';
export { LongPoll } from './kernel/long-poll.js';
export type { Middleware } from './kernel/mount.js';
export { createRouter, dispatchHotFirst } from './kernel/mount.js';
export { CONTRACT_AREAS, WITHOUT_PAGE } from './kernel/operation.js';
export { type Member, membersOfDto, NoParameters } from './kernel/params.js';
export { PublicRealms } from './kernel/public-realm.js';
export {
  ipGroup,
  keyFrom,
  type LimitRule,
  networkOf,
  parseRateLimitRules,
  RateLimiter,
  type RateLimitRules,
  rateLimited,
} from './kernel/rate-limit.js';
export type { ByteStream, ErrorReplies, WireFields } from './kernel/reply.js';
export {
  badParameter,
  HttpRefusal,
  malformedJson,
  missingArgument,
  success,
  unauthorized,
  unknownPath,
} from './kernel/reply.js';
export type { Request } from './kernel/request.js';
export type {
  AuditedState,
  AuditReader,
  CompletedRequest,
  RequestObserver,
  RequestSpan,
  RequestTracer,
} from './kernel/request-log.js';
export { dropLine, type Logger, silentLogger, warn } from './kernel/request-log.js';
export type { CallerRole, RoleLookup } from './kernel/route.js';
export { type DocumentedRoute, isDocumented, type Route, route } from './kernel/route.js';
export { type Demo, FEATURE_LEVEL, ZULIP_VERSION } from './kernel/server-info.js';
export { type ProxyTrust, parseNetworks, TrustedProxies } from './kernel/trusted-proxies.js';
export type { WebAsset, WebAssets } from './kernel/web-assets.js';
export { WireWebhookFormats } from './membership/outgoing-webhooks.js';
export { notFoundPage } from './pages/layout.js';
export { AUTHENTICATION_METHOD_NAMES, REALM_SETTING_FORMS } from './realms/realm-settings.js';
export { createRoutes } from './routes.js';
export { senderAvatarUrl } from './users/avatar-urls.js';
export { USER_SETTING_FORMS } from './users/user-settings.js';
