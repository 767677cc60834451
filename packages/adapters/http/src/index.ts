export type { RouteDependencies, WebAsset, WebAssets } from './declarations/feature.js';
export { CONTRACT_AREAS, WITHOUT_PAGE } from './declarations/operation.js';
export type { CallerRole, RoleLookup } from './declarations/route.js';
export { type DocumentedRoute, isDocumented, type Route, route } from './declarations/route.js';
export { type Demo, FEATURE_LEVEL, ZULIP_VERSION } from './declarations/server-info.js';
export { eventTypeName } from './delivery/event-presenter.js';
export { LongPoll } from './delivery/long-poll.js';
export { PublicRealms } from './delivery/public-realm.js';
export { EVENT_CATALOGUE, EVENT_WRITER } from './event-catalogue.js';
export type {
  AuditedChanges,
  AuditedLogIn,
  AuditedOperation,
  AuditedState,
  AuditReader,
  AuditRecorder,
  CompletedRequest,
  RequestObserver,
  RequestSpan,
  RequestTracer,
} from './express/request-log.js';
export { changesBetween, dropLine, type Logger, silentLogger, warn } from './express/request-log.js';
export { createExpressAdapter, type ExpressAdapter, type Middleware, serveInTurns } from './express/router.js';
export { ERROR_REPLIES } from './features.js';
export { pngChunk } from './files/pictures.js';
export { permissionTitle } from './groups/group-settings.js';
export { AnomalousPayload, escapeText, Payload } from './integrations/integration.js';
export { INTEGRATIONS } from './integrations/integrations.js';
export { type LoadGauge, type LoadLevel, noLoad, TRANSPORT_LIMITS, type TransportLimits } from './limits/budgets.js';
export { RateLimiter, rateLimited } from './limits/counters.js';
export {
  ipGroup,
  keyFrom,
  LIMIT_RULES,
  type LimitRule,
  networkOf,
  parseRateLimitRules,
  type RateLimitRules,
} from './limits/rules.js';
export { AUDIT_CSV_HEADER, auditCsvLine } from './membership/audit.js';
export { WireWebhookFormats } from './membership/outgoing-webhooks.js';
export { noticeTexts } from './pages/catalogues.js';
export { notFoundPage } from './pages/layout.js';
export type { OptionalKey, ParamType } from './params/param-types.js';
export * as paramTypes from './params/param-types.js';
export { type Member, membersOfDto, NoParameters } from './params/params.js';
export { AUTHENTICATION_METHOD_NAMES, REALM_SETTING_FORMS } from './realms/realm-settings.js';
export { createRoutes } from './routes.js';
export * from './security/authenticate.js';
export { isLoopbackName, SessionCookies } from './security/authenticate.js';
export type { TrustedOrigins } from './security/csrf.js';
export { type ProxyTrust, parseNetworks, TrustedProxies } from './security/proxies.js';
export { senderAvatarUrl } from './users/avatar-urls.js';
export { USER_SETTING_FORMS } from './users/user-settings.js';
export type { ByteStream, ErrorReplies, WireFields } from './wire/reply.js';
export {
  badParameter,
  HttpRefusal,
  malformedJson,
  missingArgument,
  ParamError,
  success,
  unauthorized,
  unknownPath,
} from './wire/reply.js';
export type { Request } from './wire/request.js';
