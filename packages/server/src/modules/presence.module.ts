import { GetPresence, ListPresence, PresenceBoard, ReportPresence } from '@parley/domain/presence';
import { ContainerModule } from 'inversify';
import { provide, provideAs } from '../provide.js';
import { LISTS, TOKENS } from '../tokens.js';

const { unitOfWork, clock, ephemeralEvents, presencePolicy, realmUrls } = TOKENS;

export const presenceModule = new ContainerModule(({ bind }) => {
  provide(bind, PresenceBoard, unitOfWork, clock, ephemeralEvents, presencePolicy);
  provideAs(bind, LISTS.eventListener, PresenceBoard);
  provide(bind, ReportPresence, unitOfWork, PresenceBoard, clock);
  provide(bind, ListPresence, unitOfWork, PresenceBoard, clock);
  provide(bind, GetPresence, unitOfWork, PresenceBoard, realmUrls);
});
