import type { LinkKeys } from '../access/confirmations.js';
import type {
  ApiKeyMint,
  LoginAttempts,
  PasswordHasher,
  PasswordStrength,
  SessionTokens,
} from '../access/credentials.js';
import type { EmailQuota, Mailer, NoticeTexts } from '../access/email.js';
import type { ChannelQuota } from '../channels/channel.js';
import type { ServerChannelConfig } from '../channels/create-channels.use-cases.js';
import type { ExportLimits } from '../exports/exports.js';
import type { ImportRunner } from '../exports/import-runs.js';
import type { BlobStore, ContentTypes } from '../files/blobs.js';
import type { MetadataFinder } from '../files/clean-files.js';
import type { LoadUnicodeEmoji } from '../files/emoji.js';
import type { ExternalPicturePaths, ExternalPictures } from '../files/external-pictures.js';
import type { FileTextReader } from '../files/file-texts.js';
import type { FileLimits } from '../files/files.js';
import type { FileUser } from '../files/files.use-cases.js';
import type { ImageProcessor } from '../files/images.js';
import type { PartialBlobStore } from '../files/resumable-uploads.js';
import type { VisitorUploads } from '../files/visitor-files.js';
import type { Bus } from '../kernel/bus.js';
import type { DataValidator } from '../kernel/data-schemas.js';
import type { EphemeralEvents } from '../kernel/event.js';
import type { FollowedLog } from '../kernel/event-log.js';
import type { QueueIds, ServedQueues } from '../kernel/event-queue.js';
import type { ExportParts } from '../kernel/export-parts.js';
import type {
  Clock,
  DevelopmentMode,
  HostAuthentication,
  Randomness,
  RealmUrls,
  ReportProblem,
  TicketTokens,
  Timers,
} from '../kernel/ports.js';
import type { QueueFilters } from '../kernel/register-queue.js';
import type { UnitOfWork } from '../kernel/unit-of-work.js';
import type { EventLoop } from '../kernel/yielding.js';
import type { PeopleDirectory } from '../log-in/directories.js';
import type { LogInProvider, LogInTokens } from '../log-in/log-in-methods.js';
import type { PictureDownloads } from '../log-in/log-in-pictures.js';
import type { VisitorQuota } from '../log-in/visitors.js';
import type { MarkdownRenderer, RenderedMessages } from '../markdown/markdown.js';
import type { ErasureLedger } from '../membership/erasures.js';
import type { InvitationConfig } from '../membership/invitations.js';
import type { SignUpKeys } from '../membership/sign-up.js';
import type { WebhookClient, WebhookFormats } from '../membership/webhooks.js';
import type { SpectatedFiles } from '../messages/messages.use-cases.js';
import type { DigestConfig } from '../push/digests.js';
import type { IncomingEmailQuota, MailGateway } from '../push/incoming-email.js';
import type { NotificationMeter, NotificationTargets } from '../push/notifications.js';
import type { PushService } from '../push/push.js';
import type { WebPushService } from '../push/web-push.js';
import type { MeetingLinks, MeetingServer } from '../realms/calls.js';
import type { LinkifierSyntax } from '../realms/linkifiers.js';
import type { ServerAddress } from '../realms/realm.js';
import type { DirectoryPasswords, JsonWebTokens } from '../users/authentication.js';
import type { DisposableDomains } from '../users/change-email.js';
import type { PresencePolicy } from '../users/presence.js';
import type { OneTimeCodes, PasskeyProtocol, SecondFactorSecrets } from '../users/second-factors.js';
import type { LinkPreviewFetcher } from '../writing/link-previews.js';
import type { MessageHooks } from '../writing/post-message.js';
import type { ContentDigest } from '../writing/update-message.use-cases.js';

/** Ports and options of the domain, under the names that `inject` uses. */
export interface Ports {
  readonly unitOfWork: UnitOfWork;
  readonly clock: Clock;
  readonly randomness: Randomness;
  readonly apiKeyMint: ApiKeyMint;
  readonly sessionTokens: SessionTokens;
  readonly webTokens: JsonWebTokens;
  /** Log-in providers in configuration order. */
  readonly logInProviders: readonly LogInProvider[];
  readonly logInTokens: LogInTokens;
  /** Directories in configuration order. */
  readonly peopleDirectories: readonly PeopleDirectory[];
  readonly directoryPasswords: DirectoryPasswords;
  readonly pictureDownloads: PictureDownloads;
  readonly secondFactorSecrets: SecondFactorSecrets;
  readonly oneTimeCodes: OneTimeCodes;
  readonly passkeys: PasskeyProtocol;
  readonly passwordHasher: PasswordHasher;
  readonly passwordStrength: PasswordStrength;
  readonly disposableDomains: DisposableDomains;
  readonly loginAttempts: LoginAttempts;
  readonly messageHooks: MessageHooks;
  readonly dataValidator: DataValidator;
  readonly markdownRenderer: MarkdownRenderer;
  readonly linkifierSyntax: LinkifierSyntax;
  readonly renderedMessages: RenderedMessages;
  readonly invitationKeys: LinkKeys;
  readonly confirmationKeys: LinkKeys;
  /** Keys for user ids in unsubscribe links. */
  readonly unsubscribeKeys: LinkKeys;
  readonly signUpKeys: SignUpKeys;
  readonly invitationConfig: InvitationConfig;
  readonly mailer: Mailer;
  readonly noticeTexts: NoticeTexts;
  readonly emailQuota: EmailQuota;
  readonly digestConfig: DigestConfig;
  readonly eventLoop: EventLoop;
  readonly contentDigest: ContentDigest;
  readonly unicodeEmoji: LoadUnicodeEmoji;
  readonly realmUrls: RealmUrls;
  readonly serverAddress: ServerAddress;
  readonly presencePolicy: PresencePolicy;
  readonly serverChannelConfig: ServerChannelConfig;
  readonly channelQuota: ChannelQuota;
  readonly visitorQuota: VisitorQuota;
  readonly visitorUploads: VisitorUploads;
  readonly visitorTokens: TicketTokens;
  readonly developmentMode: DevelopmentMode;
  readonly hostAuthentication: HostAuthentication;
  /** Connection to the other servers of the database. */
  readonly bus: Bus;
  readonly followedLog: FollowedLog;
  readonly ephemeralEvents: EphemeralEvents;
  readonly servedQueues: ServedQueues;
  /** Channels for reaching absent users. */
  readonly notificationMeter: NotificationMeter;
  /** Null if the server receives no email. */
  readonly mailGateway: MailGateway | null;
  readonly incomingEmailQuota: IncomingEmailQuota;
  readonly notificationTargets: NotificationTargets;
  /** Null if none is configured. */
  readonly pushService: PushService | null;
  /** Null if none is configured. */
  readonly webPushService: WebPushService | null;
  readonly meetingLinks: MeetingLinks;
  /** Null if none is configured. */
  readonly meetingServer: MeetingServer | null;
  readonly webhookFormats: WebhookFormats;
  readonly webhookClient: WebhookClient;
  readonly blobStore: BlobStore;
  readonly partialBlobStore: PartialBlobStore;
  readonly imageProcessor: ImageProcessor;
  readonly metadataFinder: MetadataFinder;
  readonly fileTextReader: FileTextReader;
  readonly externalPicturePaths: ExternalPicturePaths;
  readonly externalPictures: ExternalPictures;
  readonly linkPreviewFetcher: LinkPreviewFetcher;
  readonly fileLimits: FileLimits;
  readonly fileTokens: TicketTokens;
  readonly contentTypes: ContentTypes;
  readonly spectatedFiles: SpectatedFiles;
  readonly exportLimits: ExportLimits;
  readonly exportParts: ExportParts;
  readonly erasureLedger: ErasureLedger;
  /** Null if only the command line imports. */
  readonly importRunner: ImportRunner | null;
  readonly timers: Timers;
  readonly report: ReportProblem;
  readonly queueFilters: QueueFilters;
  readonly queueIds: QueueIds;
  /** Features that need files beyond those in messages. */
  readonly fileUsers: readonly FileUser[];
}
