import type { JsonWebTokens } from '../authentication/index.js';
import type { ChannelQuota, ServerChannelConfig } from '../channels/index.js';
import type { LinkKeys } from '../confirmations/index.js';
import type {
  ApiKeyMint,
  LoginAttempts,
  PasswordHasher,
  PasswordStrength,
  SessionTokens,
} from '../credentials/index.js';
import type { LoadUnicodeEmoji } from '../emoji/index.js';
import type { EphemeralEvents, QueueFilters, ServedQueues } from '../events/index.js';
import type { ArchiveWriter, ExportLimits } from '../exports/index.js';
import type { BlobStore, ContentTypes, FileLimits, FileTokens, FileUser, PartialBlobStore } from '../files/index.js';
import type { ImageProcessor } from '../images/index.js';
import type { InvitationConfig, SignUpKeys } from '../invitations/index.js';
import type { LetterQuota, Mailer } from '../mail/index.js';
import type { MarkdownRenderer, RenderedMessages } from '../markdown/index.js';
import type { ContentDigest, MessageHooks, SpectatedFiles } from '../messages/index.js';
import type { PushService } from '../push/index.js';
import type { LinkifierSyntax, MeetingLinks, MeetingServer, ServerAddress } from '../realms/index.js';
import type {
  Clock,
  DevelopmentMode,
  EventLoop,
  Randomness,
  RealmUrls,
  ReportProblem,
  Timers,
  UnitOfWork,
} from '../shared/index.js';
import type { DisposableDomains, PresencePolicy } from '../users/index.js';

/** Ports and options of the domain, by the names that `inject` uses. */
export interface Ports {
  readonly unitOfWork: UnitOfWork;
  readonly clock: Clock;
  readonly randomness: Randomness;
  readonly apiKeyMint: ApiKeyMint;
  readonly sessionTokens: SessionTokens;
  readonly webTokens: JsonWebTokens;
  readonly passwordHasher: PasswordHasher;
  readonly passwordStrength: PasswordStrength;
  readonly disposableDomains: DisposableDomains;
  readonly loginAttempts: LoginAttempts;
  readonly messageHooks: MessageHooks;
  readonly markdownRenderer: MarkdownRenderer;
  readonly linkifierSyntax: LinkifierSyntax;
  readonly renderedMessages: RenderedMessages;
  readonly invitationKeys: LinkKeys;
  readonly confirmationKeys: LinkKeys;
  readonly signUpKeys: SignUpKeys;
  readonly invitationConfig: InvitationConfig;
  readonly mailer: Mailer;
  readonly letterQuota: LetterQuota;
  readonly eventLoop: EventLoop;
  readonly contentDigest: ContentDigest;
  readonly unicodeEmoji: LoadUnicodeEmoji;
  readonly realmUrls: RealmUrls;
  readonly serverAddress: ServerAddress;
  readonly presencePolicy: PresencePolicy;
  readonly serverChannelConfig: ServerChannelConfig;
  readonly channelQuota: ChannelQuota;
  readonly developmentMode: DevelopmentMode;
  readonly ephemeralEvents: EphemeralEvents;
  readonly servedQueues: ServedQueues;
  /** Null: the operator named none. */
  readonly pushService: PushService | null;
  readonly meetingLinks: MeetingLinks;
  /** Null: the operator named none. */
  readonly meetingServer: MeetingServer | null;
  readonly blobStore: BlobStore;
  readonly partialBlobStore: PartialBlobStore;
  readonly imageProcessor: ImageProcessor;
  readonly fileLimits: FileLimits;
  readonly fileTokens: FileTokens;
  readonly contentTypes: ContentTypes;
  readonly spectatedFiles: SpectatedFiles;
  readonly archiveWriter: ArchiveWriter;
  readonly exportLimits: ExportLimits;
  readonly timers: Timers;
  readonly report: ReportProblem;
  readonly queueFilters: QueueFilters;
  /** Features that need files beside messages. */
  readonly fileUsers: readonly FileUser[];
}
