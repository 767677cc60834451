import { createHash, randomUUID } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MAX_EXPORTED_BYTES, MAX_EXPORTED_MESSAGES } from '@parley/domain/exports';
import { htmlMessages, re2LinkifierSyntax } from '@parley/markdown';
import { ContainerModule } from 'inversify';
import { HmacApiKeyMint } from '../authentication/hmac-api-key-mint.js';
import { HmacSessionTokens } from '../authentication/hmac-session-tokens.js';
import { JoseWebTokens } from '../authentication/jose-web-tokens.js';
import { ZxcvbnPasswordStrength } from '../authentication/zxcvbn-password-strength.js';
import { BigBlueButton } from '../calls/big-blue-button.js';
import { HmacMeetingLinks } from '../calls/hmac-meeting-links.js';
import { FILE_LIMITS } from '../configuration/settings.js';
import { FolderArchiveWriter } from '../exports/folder-archive-writer.js';
import { FileTypeContentTypes } from '../files/file-type-content-types.js';
import { HmacFileTokens } from '../files/hmac-file-tokens.js';
import { CONFIRMATION_LINKS, HmacLinkKeys, INVITATION_LINKS } from '../hmac-link-keys.js';
import { ListedDisposableDomains } from '../listed-disposable-domains.js';
import { DeliverableMailer } from '../mail/deliverable-mailer.js';
import type { ParleyParts } from '../parley-parts.js';
import { provideFrom, provideValue } from '../provide.js';
import { HttpPushService } from '../push/http-push-service.js';
import { serverAddressOf } from '../realm-resolver.js';
import type { Resolve } from '../resolve.js';
import { SystemEventLoop } from '../system-event-loop.js';
import { SystemTimers } from '../system-timers.js';
import { LISTS, PARTS, TOKENS } from '../tokens.js';

/** Ten days (organization §9.1). */
export const DEFAULT_INVITATION_VALIDITY_MINUTES = 14_400;

/** What the server is given, and what follows from it alone. */
export const optionsModule = (options: ParleyParts, resolve: Resolve) =>
  new ContainerModule(({ bind }) => {
    const { logger } = options;
    provideValue(bind, PARTS.options, options);
    provideValue(bind, PARTS.resolve, resolve);
    provideValue(bind, PARTS.storage, options.unitOfWork);
    provideValue(bind, PARTS.report, (message, fields) => logger.error(fields, message));
    provideFrom(bind, PARTS.timers, () => new SystemTimers());
    provideFrom(bind, TOKENS.eventLoop, () => new SystemEventLoop());

    for (const handler of options.moreJobHandlers ?? []) provideValue(bind, LISTS.jobHandler, handler);

    provideValue(bind, TOKENS.clock, options.clock);
    provideValue(bind, TOKENS.randomness, options.randomness);
    provideValue(bind, TOKENS.passwordHasher, options.passwordHasher);
    provideValue(bind, TOKENS.markdownRenderer, options.markdownRenderer);
    provideValue(bind, TOKENS.linkifierSyntax, re2LinkifierSyntax);
    provideValue(bind, TOKENS.renderedMessages, htmlMessages);
    provideValue(bind, TOKENS.mailer, new DeliverableMailer(options.mailer));
    provideValue(bind, TOKENS.contentDigest, (text) => createHash('sha256').update(text, 'utf8').digest('hex'));
    provideValue(bind, TOKENS.unicodeEmoji, options.unicodeEmoji);
    provideValue(bind, TOKENS.serverAddress, serverAddressOf(options));
    provideValue(bind, TOKENS.serverChannelConfig, {
      webPublicEnabled: options.allowsWebPublicChannels,
      mailGatewayPattern: options.mailGatewayPattern ?? null,
    });
    provideValue(bind, TOKENS.presencePolicy, { limitsToAccessors: options.limitsPresence ?? false });
    provideValue(bind, TOKENS.developmentMode, { isOn: options.isDev });
    provideFrom(
      bind,
      TOKENS.pushService,
      (realmUrls, clock) => options.push && new HttpPushService(options.push, realmUrls, clock),
      TOKENS.realmUrls,
      TOKENS.clock,
    );
    provideFrom(bind, TOKENS.meetingLinks, () => new HmacMeetingLinks(options.secret));
    provideValue(bind, TOKENS.meetingServer, options.bigBlueButton ? new BigBlueButton(options.bigBlueButton) : null);
    provideValue(bind, TOKENS.blobStore, options.blobs);
    provideValue(bind, TOKENS.partialBlobStore, options.partialBlobs);
    provideValue(bind, TOKENS.imageProcessor, options.images);
    provideFrom(
      bind,
      TOKENS.archiveWriter,
      () => new FolderArchiveWriter(options.exportsFolder ?? join(tmpdir(), `parley-exports-${randomUUID()}`)),
    );
    provideValue(bind, TOKENS.exportLimits, {
      operator: options.mailFrom ?? 'the operator of this server',
      maxMessages: MAX_EXPORTED_MESSAGES,
      maxBytes: MAX_EXPORTED_BYTES,
      ...options.exportLimits,
    });
    provideValue(bind, TOKENS.fileLimits, options.fileLimits ?? FILE_LIMITS);
    provideFrom(bind, TOKENS.fileTokens, () => new HmacFileTokens(options.secret));
    provideFrom(bind, TOKENS.contentTypes, () => new FileTypeContentTypes());
    provideFrom(bind, TOKENS.invitationKeys, () => new HmacLinkKeys(options.secret, INVITATION_LINKS));
    provideFrom(bind, TOKENS.confirmationKeys, () => new HmacLinkKeys(options.secret, CONFIRMATION_LINKS));
    provideFrom(
      bind,
      TOKENS.signUpKeys,
      (invitations, confirmations) => ({ invitations, confirmations }),
      TOKENS.invitationKeys,
      TOKENS.confirmationKeys,
    );
    provideValue(bind, TOKENS.invitationConfig, {
      defaultValidityMinutes: options.invitationValidityMinutes ?? DEFAULT_INVITATION_VALIDITY_MINUTES,
      confirmsAddresses: options.sendsMail ?? true,
    });
    provideFrom(bind, TOKENS.apiKeyMint, () => new HmacApiKeyMint(options.secret));
    provideFrom(
      bind,
      TOKENS.webTokens,
      (clock) => new JoseWebTokens(options.jwtSecrets ?? new Map(), clock),
      TOKENS.clock,
    );
    provideFrom(bind, TOKENS.sessionTokens, () => new HmacSessionTokens(options.secret));
    provideFrom(bind, TOKENS.passwordStrength, () => new ZxcvbnPasswordStrength());
    provideFrom(bind, TOKENS.disposableDomains, () => new ListedDisposableDomains());
  });
