import {
  isArrayLiteralExpression,
  isBinaryExpression,
  isBlock,
  isCallExpression,
  isConditionalExpression,
  isIfStatement,
  isNumericLiteral,
  isPrefixUnaryExpression,
  isPropertyAccessExpression,
  type Node,
  SyntaxKind,
} from 'typescript/unstable/ast';

// The small changes that mutation testing makes.

/** The replacement of a node, or of a part of it. */
export interface Change {
  readonly kind: string;
  readonly start: number;
  readonly end: number;
  readonly after: string;
}

/** Returns the text of a node, without the comments and blanks before it. */
type TextOf = (node: Node) => string;

/** For each operator, the operators that a person could have typed by mistake. */
const otherOperators: Readonly<Record<string, readonly (readonly [kind: string, operator: string])[]>> = {
  '<': [
    ['boundary', '<='],
    ['negated', '>='],
  ],
  '<=': [
    ['boundary', '<'],
    ['negated', '>'],
  ],
  '>': [
    ['boundary', '>='],
    ['negated', '<='],
  ],
  '>=': [
    ['boundary', '>'],
    ['negated', '<'],
  ],
  '===': [['negated', '!==']],
  '!==': [['negated', '===']],
  '&&': [['and for or', '||']],
  '||': [['or for and', '&&']],
  '+': [['arithmetic', '-']],
  '-': [['arithmetic', '+']],
  '*': [['arithmetic', '/']],
  '/': [['arithmetic', '*']],
};

/** Operators that can be removed together with one of their operands. */
const droppable: ReadonlySet<string> = new Set(['&&', '||', '??']);

/** A map and not an object, because an object would inherit `toString`. */
const otherMethods: ReadonlyMap<string, string> = new Map([
  ['some', 'every'],
  ['every', 'some'],
  ['min', 'max'],
  ['max', 'min'],
  ['floor', 'ceil'],
]);

/** Methods whose predicate can be replaced by one that accepts everything or nothing. */
const predicated: ReadonlySet<string> = new Set(['filter', 'find', 'some', 'every']);

/**
 * All changes of this node itself; its children have their own changes. String literals are not changed: they are
 * names, which the compiler checks.
 */
export function changesOf(node: Node, textOf: TextOf): readonly Change[] {
  const whole = (kind: string, after: string): Change => replaced(kind, node, textOf, after);
  if (node.kind === SyntaxKind.TrueKeyword) return [whole('boolean', 'false')];
  if (node.kind === SyntaxKind.FalseKeyword) return [whole('boolean', 'true')];
  if (isNumericLiteral(node)) {
    const value = Number(textOf(node).replaceAll('_', ''));
    return [whole('number', `${value + 1}`), whole('number', `(${value - 1})`)];
  }
  if (isPrefixUnaryExpression(node) && node.operator === SyntaxKind.ExclamationToken) {
    return [whole('negation removed', `(${textOf(node.operand)})`)];
  }
  if (isConditionalExpression(node)) {
    return [
      whole('branches swapped', `${textOf(node.condition)} ? ${textOf(node.whenFalse)} : ${textOf(node.whenTrue)}`),
    ];
  }
  if (isIfStatement(node)) {
    const negated = replaced('negated', node.expression, textOf, `!(${textOf(node.expression)})`);
    return leavesEarly(node.thenStatement) && !node.elseStatement
      ? [negated, whole('early exit removed', ';')]
      : [negated];
  }
  if (isBinaryExpression(node)) {
    const operator = textOf(node.operatorToken);
    const others = (otherOperators[operator] ?? []).map(([kind, after]) =>
      replaced(kind, node.operatorToken, textOf, after),
    );
    const dropped = droppable.has(operator)
      ? [whole('operand dropped', `(${textOf(node.left)})`), whole('operand dropped', `(${textOf(node.right)})`)]
      : [];
    return [...others, ...dropped];
  }
  if (isArrayLiteralExpression(node)) {
    const { elements } = node;
    // Also removes a comma: the one after the element or, for the last element, the one before it.
    return elements.map((element, index): Change => {
      const following = elements[index + 1];
      const { start } = replaced('', element, textOf, '');
      return following
        ? { kind: 'element dropped', start, end: replaced('', following, textOf, '').start, after: '' }
        : { kind: 'element dropped', start: elements[index - 1]?.end ?? start, end: element.end, after: '' };
    });
  }
  if (isCallExpression(node) && isPropertyAccessExpression(node.expression)) {
    const { name } = node.expression;
    const method = textOf(name);
    const other = otherMethods.get(method);
    const [argument] = node.arguments;
    const always = (passes: boolean): Change[] =>
      argument && predicated.has(method) && textOf(argument) !== `() => ${passes}`
        ? [replaced('predicate', argument, textOf, `() => ${passes}`)]
        : [];
    return [
      ...(other === undefined ? [] : [replaced('method', name, textOf, other)]),
      ...always(true),
      ...always(false),
    ];
  }
  return [];
}

function replaced(kind: string, node: Node, textOf: TextOf, after: string): Change {
  return { kind, start: node.end - textOf(node).length, end: node.end, after };
}

function leavesEarly(statement: Node): boolean {
  if (isBlock(statement)) return statement.statements.some((inner) => leavesEarly(inner));
  return [SyntaxKind.ReturnStatement, SyntaxKind.ContinueStatement, SyntaxKind.BreakStatement].includes(statement.kind);
}
