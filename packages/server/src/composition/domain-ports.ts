import { createHash, randomUUID } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BounceAwareMailer } from '@parley/domain/access';
import { EXPORT_PARTS, FILE_USERS, type Ports, QUEUE_FILTERS } from '@parley/domain/composition';
import { MAX_EXPORTED_BYTES, MAX_EXPORTED_MESSAGES } from '@parley/domain/exports';
import type { FileTextReader } from '@parley/domain/files';
import { DomainError, LocalBus } from '@parley/domain/kernel';
import { VerifyDirectoryPassword } from '@parley/domain/membership';
import { MissedEmails, MobilePush, NotificationMeter, WebPush } from '@parley/domain/push';
import { EVENT_WRITER, FEATURE_LEVEL, senderAvatarUrl, WireWebhookFormats, warn, ZULIP_VERSION } from '@parley/http';
import { FileTexts } from '@parley/images';
import { htmlMessages, re2LinkifierSyntax } from '@parley/markdown';
import {
  type AvatarUrlOf,
  BigBlueButton,
  CONFIRMATION_LINKS,
  createMailGateway,
  DeliverableMailer,
  DirectPushService,
  FileTypeContentTypes,
  HmacApiKeyMint,
  HmacFileTokens,
  HmacLinkKeys,
  HmacLogInTokens,
  HmacMeetingLinks,
  HmacPicturePaths,
  HmacSessionTokens,
  HttpPushService,
  INVITATION_LINKS,
  JoseWebTokens,
  ListedDisposableDomains,
  OtplibCodes,
  OutgoingProxy,
  PublicWebClient,
  SealedSecondFactors,
  SimpleWebAuthn,
  SystemEventLoop,
  SystemTimers,
  UNSUBSCRIBE_LINKS,
  VapidWebPushService,
  WebLinkPreviewFetcher,
  WebPictures,
  ZxcvbnPasswordStrength,
} from '@parley/node-adapters';
import { FILE_LIMITS } from '../configuration/settings.js';
import { FolderArchiveWriter } from '../exports/write-exports.js';
import { HostHooks } from '../facade/message-hooks.js';
import { DailyChannelQuota, EmailLimits, IncomingEmailLimits, LoginAttemptLimits } from '../http/quotas.js';
import type { Makers, Resolve } from '../kernel/injector.js';
import { RealmResolver, serverAddressOf } from '../kernel/realm-resolver.js';
import type { ParleyDependencies } from './parley-dependencies.js';
import type { Get } from './services.js';

/** Ten days (organization §9.1). */
export const DEFAULT_INVITATION_VALIDITY_MINUTES = 14_400;

type SomePorts = Partial<Makers<Ports>>;

/** Ports of the domain, made from the configuration. */
export const domainPorts = (options: ParleyDependencies, get: Get, resolve: Resolve): Makers<Ports> => ({
  ...kernelPorts(options, get),
  ...addressPorts(options, resolve),
  ...accountPorts(options, get, resolve),
  ...messagePorts(options, get, resolve),
  ...deliveryPorts(options, get, resolve),
  ...filePorts(options, get),
});

const kernelPorts = (options: ParleyDependencies, get: Get) =>
  ({
    unitOfWork: () => get('publishing'),
    clock: () => options.clock,
    randomness: () => options.randomness,
    timers: () => new SystemTimers(),
    eventLoop: () => new SystemEventLoop(),
    report: () => (message, fields, level) => {
      // The storage logs an outage once; until it ends, all work fails.
      if (fields.err instanceof DomainError && fields.err.code === 'STORAGE_UNAVAILABLE') return;
      if (level === 'warn') warn(options.logger, fields, message);
      else options.logger.error(fields, message);
    },
    developmentMode: () => ({ isOn: options.isDev }),
    hostAuthentication: () => ({ isOn: options.authenticate !== undefined }),
  }) satisfies SomePorts;

const addressPorts = (options: ParleyDependencies, resolve: Resolve) =>
  ({
    realmUrls: () => resolve(RealmResolver),
    serverAddress: () => serverAddressOf(options),
    linkifierSyntax: () => re2LinkifierSyntax,
    meetingLinks: () => new HmacMeetingLinks(options.secret),
    meetingServer: () => (options.bigBlueButton ? new BigBlueButton(options.bigBlueButton, proxyOf(options)) : null),
  }) satisfies SomePorts;

/** Log-in, invitations and email addresses. */
const accountPorts = (options: ParleyDependencies, get: Get, resolve: Resolve) =>
  ({
    apiKeyMint: () => new HmacApiKeyMint(options.secret),
    sessionTokens: () => new HmacSessionTokens(options.secret),
    logInProviders: () => options.logInProviders ?? [],
    peopleDirectories: () => options.directories ?? [],
    directoryPasswords: () => resolve(VerifyDirectoryPassword),
    logInTokens: () => new HmacLogInTokens(options.secret),
    secondFactorSecrets: () => new SealedSecondFactors(options.secret),
    oneTimeCodes: () => new OtplibCodes(),
    passkeys: () => new SimpleWebAuthn(),
    webTokens: () => new JoseWebTokens(options.jwtSecrets ?? new Map(), options.clock, options.jwtAudience),
    passwordHasher: () => options.passwordHasher,
    passwordStrength: () => new ZxcvbnPasswordStrength(),
    disposableDomains: () => new ListedDisposableDomains(),
    loginAttempts: () => new LoginAttemptLimits(get('limiter'), get('callExchange'), options.secret),
    presencePolicy: () => ({ limitsToAccessors: options.limitsPresence ?? false }),

    invitationKeys: () => new HmacLinkKeys(options.secret, INVITATION_LINKS),
    confirmationKeys: () => new HmacLinkKeys(options.secret, CONFIRMATION_LINKS),
    unsubscribeKeys: () => new HmacLinkKeys(options.secret, UNSUBSCRIBE_LINKS),
    signUpKeys: () => ({ invitations: get('invitationKeys'), confirmations: get('confirmationKeys') }),
    invitationConfig: () => ({
      defaultValidityMinutes: options.invitationValidityMinutes ?? DEFAULT_INVITATION_VALIDITY_MINUTES,
      confirmsAddresses: options.sendsMail ?? true,
    }),
    mailer: () => new DeliverableMailer(new BounceAwareMailer(options.mailer, get('unitOfWork'), options.clock)),
    emailQuota: () => resolve(EmailLimits),
  }) satisfies SomePorts;

/** Channels and message content. */
const messagePorts = (options: ParleyDependencies, get: Get, resolve: Resolve) =>
  ({
    serverChannelConfig: () => ({
      webPublicEnabled: options.allowsWebPublicChannels,
      mailGatewayPattern: options.mailGatewayPattern ?? null,
    }),
    channelQuota: () => new DailyChannelQuota(get('limiter'), get('callExchange'), get('clock')),

    markdownRenderer: () => options.markdownRenderer,
    renderedMessages: () => htmlMessages,
    unicodeEmoji: () => options.unicodeEmoji,
    contentDigest: () => (text) => createHash('sha256').update(text, 'utf8').digest('hex'),
    messageHooks: () => resolve(HostHooks),
  }) satisfies SomePorts;

/** Events, notifications, email and webhooks. */
const deliveryPorts = (options: ParleyDependencies, get: Get, resolve: Resolve) =>
  ({
    bus: () => options.bus ?? new LocalBus().connect(),
    followedLog: () => get('follower'),
    ephemeralEvents: () => get('hub'),
    servedQueues: () => get('hub'),
    queueFilters: () => QUEUE_FILTERS,
    digestConfig: () => ({ sendsDigests: options.notifications?.email !== false && options.sendsMail !== false }),
    notificationTargets: () => {
      const { push = true, email = true } = options.notifications ?? {};
      const channels = [
        ...(push && options.push ? [resolve(MobilePush)] : []),
        ...(push && options.webPush ? [resolve(WebPush)] : []),
        // Without a mail server, emails are files that an operator reads; missed messages would fill the folder.
        ...(email && options.sendsMail !== false ? [resolve(MissedEmails)] : []),
      ];
      return { channels, hasHost: options.hasHost ?? true };
    },
    webPushService: () =>
      options.webPush
        ? new VapidWebPushService({
            subject: options.webPush,
            secret: options.secret,
            client: get('webhookClient'),
            allowedNetworks: options.webhookNetworks ?? [],
            realmUrls: get('realmUrls'),
            avatarUrlOf: (realm, sender) => senderAvatarUrl(realm, sender, get('realmUrls')),
          })
        : null,
    mailGateway: () => {
      const { mailGatewayPattern: pattern, incomingMail, secret } = options;
      if (!pattern || !incomingMail || (incomingMail.token === null && incomingMail.smtp === null)) return null;
      return createMailGateway({ ...incomingMail, pattern, secret });
    },
    incomingEmailQuota: () => resolve(IncomingEmailLimits),
    notificationMeter: () => new NotificationMeter(),
    pushService: () => {
      const { push, clock } = options;
      const realmUrls = get('realmUrls');
      const avatarUrlOf: AvatarUrlOf = (realm, sender) => senderAvatarUrl(realm, sender, realmUrls);
      const parts = { realmUrls, clock, avatarUrlOf, proxy: proxyOf(options) };
      if (!push) return null;
      if ('keys' in push) return new DirectPushService({ ...parts, account: push, report: get('report') });
      const server = { version: ZULIP_VERSION, featureLevel: FEATURE_LEVEL };
      return new HttpPushService({ ...parts, account: push, server });
    },

    linkPreviewFetcher: () => new WebLinkPreviewFetcher(pageClientOf(options), get('clock')),
    externalPictures: () => new WebPictures(pageClientOf(options), get('imageProcessor'), get('clock')),
    webhookFormats: () => new WireWebhookFormats(get('realmUrls'), EVENT_WRITER.messageParts),
    pictureDownloads: () => new PublicWebClient({ ...reachOf(options), userAgent: 'Parley' }),
    webhookClient: () =>
      new PublicWebClient({
        ...reachOf(options),
        userAgent: `ZulipOutgoingWebhook/${ZULIP_VERSION}`,
      }),
  }) satisfies SomePorts;

const proxyOf = ({ outgoingProxy }: ParleyDependencies) => new OutgoingProxy(outgoingProxy);

const reachOf = (options: ParleyDependencies) => ({
  allowedNetworks: options.webhookNetworks ?? [],
  proxy: proxyOf(options),
});

/** Maximum time for a linked page or its picture, with all redirects. */
const PAGE_TIMEOUT_MS = 5000;

const pageClientOf = (options: ParleyDependencies) =>
  new PublicWebClient({
    ...reachOf(options),
    userAgent: 'Mozilla/5.0 (compatible; ParleyLinkPreview)',
    timeoutMs: PAGE_TIMEOUT_MS,
  });

const READS_NO_FILES: FileTextReader = { reads: () => false, read: async () => null };

/** Files and exports. */
const filePorts = (options: ParleyDependencies, get: Get) =>
  ({
    blobStore: () => options.blobs,
    partialBlobStore: () => options.partialBlobs,
    imageProcessor: () => options.images,
    fileTextReader: () => (options.searchesFiles ? new FileTexts(options.images) : READS_NO_FILES),
    fileLimits: () => options.fileLimits ?? FILE_LIMITS,
    fileTokens: () => new HmacFileTokens(options.secret),
    externalPicturePaths: () => new HmacPicturePaths(options.secret),
    fileUsers: () => FILE_USERS,
    exportParts: () => EXPORT_PARTS,
    importRunner: () => options.importRunner ?? null,
    contentTypes: () => new FileTypeContentTypes(),
    spectatedFiles: () => {
      const limiter = get('limiter');
      return {
        count: ({ id }) => {
          if (limiter.isOn) limiter.attempt('spectator_attachment_access_by_file', String(id));
        },
      };
    },

    archiveWriter: () =>
      new FolderArchiveWriter(options.exportsFolder ?? join(tmpdir(), `parley-exports-${randomUUID()}`)),
    exportLimits: () => ({
      operator: options.mailFrom ?? 'the operator of this server',
      maxMessages: MAX_EXPORTED_MESSAGES,
      maxBytes: MAX_EXPORTED_BYTES,
      ...options.exportLimits,
    }),
  }) satisfies SomePorts;
