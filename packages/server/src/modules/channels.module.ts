import {
  ArchiveChannel,
  ChangeChannel,
  ChangeChannelFolder,
  ChangeDefaultChannelGroup,
  ChangeDefaultGroupChannels,
  ChangeSubscriptionProperties,
  ChangeSubscriptions,
  ChannelCreator,
  CreateChannel,
  CreateChannelFolder,
  CreateDefaultChannelGroup,
  DeleteDefaultChannelGroup,
  FindChannelId,
  GetChannel,
  GetChannelAddress,
  GetSubscriptionStatus,
  ListChannelFolders,
  ListChannels,
  ListSubscribers,
  ListSubscriptions,
  ListUserChannels,
  LoadSpectatorState,
  MarkIdleChannels,
  MuteTopic,
  ReorderChannelFolders,
  SetDefaultChannel,
  SetTopicPolicy,
  SpectateUsers,
  SubscribeUsers,
  UnsubscribeUsers,
} from '@parley/domain/channels';
import { MarkdownTextRenderer, SystemMessages } from '@parley/domain/messages';
import { ContainerModule } from 'inversify';
import { provide, provideFrom } from '../provide.js';
import { LISTS, PARTS, TOKENS } from '../tokens.js';
import { periodic, type Recurrence, RecurringWorker } from '../workers/recurring-worker.js';

const { unitOfWork, realmUrls, clock, serverChannelConfig, channelQuota, randomness } = TOKENS;

export const channelsModule = new ContainerModule(({ bind }) => {
  provide(bind, ChannelCreator, MarkdownTextRenderer, SystemMessages, channelQuota);
  provide(bind, CreateChannel, unitOfWork, ChannelCreator, clock, realmUrls, serverChannelConfig);
  provide(bind, ChangeChannel, unitOfWork, MarkdownTextRenderer, SystemMessages, serverChannelConfig);
  provide(bind, ArchiveChannel, unitOfWork, SystemMessages);
  provide(bind, SubscribeUsers, unitOfWork, ChannelCreator, SystemMessages, clock, realmUrls, serverChannelConfig);
  provide(bind, UnsubscribeUsers, unitOfWork, realmUrls);
  provide(bind, ChangeSubscriptions, unitOfWork, SubscribeUsers, UnsubscribeUsers);
  provide(bind, ChangeSubscriptionProperties, unitOfWork);
  provide(bind, SetTopicPolicy, unitOfWork, clock);
  provide(bind, MuteTopic, unitOfWork, clock);
  provide(bind, ListSubscriptions, unitOfWork);
  provide(bind, ListChannels, unitOfWork);
  provide(bind, GetChannel, unitOfWork);
  provide(bind, GetChannelAddress, unitOfWork, randomness, serverChannelConfig);
  provide(bind, FindChannelId, unitOfWork);
  provide(bind, ListSubscribers, unitOfWork);
  provide(bind, LoadSpectatorState, unitOfWork, serverChannelConfig);
  provide(bind, SpectateUsers, unitOfWork, serverChannelConfig);
  provide(bind, GetSubscriptionStatus, unitOfWork);
  provide(bind, ListUserChannels, unitOfWork);

  provide(bind, SetDefaultChannel, unitOfWork);
  provide(bind, CreateDefaultChannelGroup, unitOfWork);
  provide(bind, ChangeDefaultChannelGroup, unitOfWork);
  provide(bind, ChangeDefaultGroupChannels, unitOfWork);
  provide(bind, DeleteDefaultChannelGroup, unitOfWork);
  provide(bind, CreateChannelFolder, unitOfWork, MarkdownTextRenderer, clock);
  provide(bind, ChangeChannelFolder, unitOfWork, MarkdownTextRenderer);
  provide(bind, ReorderChannelFolders, unitOfWork);
  provide(bind, ListChannelFolders, unitOfWork);

  provide(bind, MarkIdleChannels, unitOfWork, clock);
  provideFrom(
    bind,
    LISTS.worker,
    (markIdle, timers, report) => new RecurringWorker(idleChannels(markIdle), timers, report),
    MarkIdleChannels,
    PARTS.timers,
    PARTS.report,
  );
});

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

const idleChannels = (markIdle: Pick<MarkIdleChannels, 'execute'>): Recurrence => ({
  ...periodic('looking for channels that nobody writes to', DAY_MS, async () => void (await markIdle.execute())),
  // Who restarts every day wants it, too.
  firstDelayMs: 10 * MINUTE_MS,
});
