import {
  MetadataStorage,
  registerDecorator,
  type ValidationArguments,
  ValidatorConstraint,
  type ValidatorConstraintInterface,
  validateSync,
} from 'class-validator';
import type { ParamType } from './param-types.js';

type TargetMetadata = ReturnType<MetadataStorage['getTargetValidationMetadatas']>;
type GroupedMetadata = ReturnType<MetadataStorage['groupByPropertyName']>;

/**
 * Metadata of our DTOs. class-validator has one storage per process, in which each validation searches all classes: our
 * hundreds of DTOs would slow down those of the host application, and theirs ours.
 */
class DtoMetadata extends MetadataStorage {
  private readonly targets = new Map<unknown, TargetMetadata>();
  private readonly groups = new Map<TargetMetadata, GroupedMetadata>();

  override getTargetValidationMetadatas(
    ...args: Parameters<MetadataStorage['getTargetValidationMetadatas']>
  ): TargetMetadata {
    const [target] = args;
    const found = this.targets.get(target) ?? super.getTargetValidationMetadatas(...args);
    this.targets.set(target, found);
    return found;
  }

  override groupByPropertyName(metadata: TargetMetadata): GroupedMetadata {
    const found = this.groups.get(metadata) ?? super.groupByPropertyName(metadata);
    this.groups.set(metadata, found);
    return found;
  }
}

const METADATA = new DtoMetadata();

/** Runs a function of class-validator with our metadata. It reads the storage from this global property. */
function withDtoMetadata<T>(work: () => T): T {
  const scope = globalThis as { classValidatorMetadataStorage?: MetadataStorage | undefined };
  const hosts = scope.classValidatorMetadataStorage;
  scope.classValidatorMetadataStorage = METADATA;
  try {
    return work();
  } finally {
    scope.classValidatorMetadataStorage = hosts;
  }
}

/** Applies decorators of class-validator to a DTO property. */
export const constrain =
  (...decorators: readonly PropertyDecorator[]): PropertyDecorator =>
  (prototype, key) =>
    withDtoMetadata(() => {
      for (const decorate of decorators) decorate(prototype, key);
    });

/** Requires a value of a type that no decorator of class-validator describes. */
export const HasParamType =
  (type: ParamType<unknown>): PropertyDecorator =>
  (prototype, key) =>
    registerDecorator({
      target: prototype.constructor,
      propertyName: String(key),
      constraints: [type],
      validator: ParamTypeConstraint,
    });

class ParamTypeConstraint implements ValidatorConstraintInterface {
  validate(value: unknown, { constraints }: ValidationArguments): boolean {
    return (constraints[0] as ParamType<unknown>).check(value) === undefined;
  }

  /** The contract's texts come from the type (`parse`). */
  defaultMessage(): string {
    return '';
  }
}
withDtoMetadata(() => ValidatorConstraint({ name: 'paramType' })(ParamTypeConstraint));

/** Absent parameters are undefined. Errors are worded by `parse`, which knows the request. */
const OPTIONS = {
  skipUndefinedProperties: true,
  forbidUnknownValues: false,
  stopAtFirstError: true,
  validationError: { target: false, value: false },
} as const;

/** Returns the names of the invalid properties of a DTO. */
export const invalidProperties = (dto: object): ReadonlySet<string> =>
  new Set(withDtoMetadata(() => validateSync(dto, OPTIONS)).map(({ property }) => property));
