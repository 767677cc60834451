import { PromoteFullMembers } from '@parley/domain/groups';
import { ContainerModule } from 'inversify';
import { provide } from '../provide.js';
import { TOKENS } from '../tokens.js';

export const groupsModule = new ContainerModule(({ bind }) => {
  provide(bind, PromoteFullMembers, TOKENS.unitOfWork, TOKENS.clock);
});
