import { featuresOf, POSTGRES_SCHEMA } from '@parley/storage';
import { SQL_TEXTS } from './engine/sql-texts.js';
import * as own from './own-features.js';

export const { FEATURES, MIGRATIONS, repositoryFactory } = featuresOf(own, SQL_TEXTS, POSTGRES_SCHEMA);
