import { ChangeOwnStatus, ChangeStatus, GetStatus } from '@parley/domain/statuses';
import { ContainerModule } from 'inversify';
import { provide } from '../provide.js';
import { TOKENS } from '../tokens.js';

const { unitOfWork, unicodeEmoji, clock, presencePolicy } = TOKENS;

export const statusesModule = new ContainerModule(({ bind }) => {
  provide(bind, ChangeOwnStatus, unitOfWork, unicodeEmoji, clock, presencePolicy);
  provide(bind, ChangeStatus, unitOfWork, unicodeEmoji);
  provide(bind, GetStatus, unitOfWork);
});
