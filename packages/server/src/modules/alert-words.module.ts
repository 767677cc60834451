import { ChangeAlertWords, ListAlertWords } from '@parley/domain/alert-words';
import { ContainerModule } from 'inversify';
import { provide } from '../provide.js';
import { TOKENS } from '../tokens.js';

const { unitOfWork } = TOKENS;

export const alertWordsModule = new ContainerModule(({ bind }) => {
  provide(bind, ListAlertWords, unitOfWork);
  provide(bind, ChangeAlertWords, unitOfWork);
});
