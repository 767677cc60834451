import type { JsonWebTokens } from '@parley/domain/authentication';
import type { ChannelQuota, ServerChannelConfig } from '@parley/domain/channels';
import type { CommitListener } from '@parley/domain/composition';
import type { LinkKeys } from '@parley/domain/confirmations';
import type {
  ApiKeyMint,
  LoginAttempts,
  PasswordHasher,
  PasswordStrength,
  SessionTokens,
} from '@parley/domain/credentials';
import type { LoadUnicodeEmoji } from '@parley/domain/emoji';
import type { EphemeralEvents, EventListener, ServedQueues } from '@parley/domain/events';
import type { ArchiveWriter, ExportLimits } from '@parley/domain/exports';
import type { BlobStore, ContentTypes, FileLimits, FileTokens, PartialBlobStore } from '@parley/domain/files';
import type { ImageProcessor } from '@parley/domain/images';
import type { InvitationConfig, SignUpKeys } from '@parley/domain/invitations';
import type { JobHandler } from '@parley/domain/jobs';
import type { LetterQuota, Mailer } from '@parley/domain/mail';
import type { MarkdownRenderer, RenderedMessages } from '@parley/domain/markdown';
import type { ContentDigest, MessageHooks, SpectatedFiles } from '@parley/domain/messages';
import type { PushService } from '@parley/domain/push';
import type { LinkifierSyntax, MeetingLinks, MeetingServer, ServerAddress } from '@parley/domain/realms';
import type {
  Clock,
  DevelopmentMode,
  EventLoop,
  Randomness,
  RealmUrls,
  ReportProblem,
  Timers,
  UnitOfWork,
} from '@parley/domain/shared';
import type { DisposableDomains, PresencePolicy } from '@parley/domain/users';
import type { Authenticator, Dispatcher, LoadGauge, Route } from '@parley/http';
import type { ParleyParts } from './parley-parts.js';
import { token } from './provide.js';
import type { Resolve } from './resolve.js';
import type { Worker } from './workers/worker.js';

/** The ports and options that use cases ask for. What is made of them is bound by its class. */
export const TOKENS = {
  unitOfWork: token<UnitOfWork>('UnitOfWork'),
  clock: token<Clock>('Clock'),
  randomness: token<Randomness>('Randomness'),
  apiKeyMint: token<ApiKeyMint>('ApiKeyMint'),
  sessionTokens: token<SessionTokens>('SessionTokens'),
  webTokens: token<JsonWebTokens>('JsonWebTokens'),
  passwordHasher: token<PasswordHasher>('PasswordHasher'),
  passwordStrength: token<PasswordStrength>('PasswordStrength'),
  disposableDomains: token<DisposableDomains>('DisposableDomains'),
  loginAttempts: token<LoginAttempts>('LoginAttempts'),
  messageHooks: token<MessageHooks>('MessageHooks'),
  markdownRenderer: token<MarkdownRenderer>('MarkdownRenderer'),
  linkifierSyntax: token<LinkifierSyntax>('LinkifierSyntax'),
  renderedMessages: token<RenderedMessages>('RenderedMessages'),
  invitationKeys: token<LinkKeys>('keys of invitations'),
  confirmationKeys: token<LinkKeys>('keys of confirmations'),
  signUpKeys: token<SignUpKeys>('SignUpKeys'),
  invitationConfig: token<InvitationConfig>('InvitationConfig'),
  mailer: token<Mailer>('Mailer'),
  letterQuota: token<LetterQuota>('LetterQuota'),
  eventLoop: token<EventLoop>('EventLoop'),
  contentDigest: token<ContentDigest>('ContentDigest'),
  unicodeEmoji: token<LoadUnicodeEmoji>('LoadUnicodeEmoji'),
  realmUrls: token<RealmUrls>('RealmAddresses'),
  serverAddress: token<ServerAddress>('ServerAddress'),
  presencePolicy: token<PresencePolicy>('PresencePolicy'),
  serverChannelConfig: token<ServerChannelConfig>('ChannelOptions'),
  channelQuota: token<ChannelQuota>('ChannelQuota'),
  developmentMode: token<DevelopmentMode>('DevelopmentMode'),
  ephemeralEvents: token<EphemeralEvents>('EphemeralEvents'),
  servedQueues: token<ServedQueues>('ServedQueues'),
  /** Null: the operator named none. */
  pushService: token<PushService | null>('PushService'),
  meetingLinks: token<MeetingLinks>('MeetingLinks'),
  /** Null: the operator named none. */
  meetingServer: token<MeetingServer | null>('MeetingServer'),
  blobStore: token<BlobStore>('BlobStore'),
  partialBlobStore: token<PartialBlobStore>('PartialBlobStore'),
  imageProcessor: token<ImageProcessor>('ImageProcessor'),
  fileLimits: token<FileLimits>('FileLimits'),
  fileTokens: token<FileTokens>('FileTokens'),
  contentTypes: token<ContentTypes>('ContentTypes'),
  spectatedFiles: token<SpectatedFiles>('SpectatedFiles'),
  archiveWriter: token<ArchiveWriter>('ArchiveWriter'),
  exportLimits: token<ExportLimits>('ExportLimits'),
} as const;

/** What a server at work is made of, beside its use cases. */
export const PARTS = {
  options: token<ParleyParts>('options'),
  /** As it is, without telling anybody of commits. */
  storage: token<UnitOfWork>('storage'),
  report: token<ReportProblem>('report'),
  timers: token<Timers>('Timers'),
  resolve: token<Resolve>('resolve'),
  load: token<LoadGauge>('load'),
  routes: token<readonly Route[]>('routes'),
  dispatcher: token<Dispatcher>('dispatcher'),
} as const;

/** Of these a module binds as many as it has; they come in the order of the modules. */
export const LISTS = {
  /** Asked one after the other. */
  authenticator: token<Authenticator>('authenticator'),
  /** Of browsers in which somebody has logged in. */
  browserAuthenticator: token<Authenticator>('browser authenticator'),
  /** Called with every event, whoever committed it, one listener after the other. */
  eventListener: token<EventListener>('event listener'),
  /** Called with what this process commits. */
  commitListener: token<CommitListener>('commit listener'),
  jobHandler: token<JobHandler>('job handler'),
  /** Started in this order and stopped in the opposite one. */
  worker: token<Worker>('worker'),
} as const;
