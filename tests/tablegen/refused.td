class K<string s> { string t = s; K k = ?; string n = NAME;} multiclass M { def a : K<"x"> { string nn = NAME; }  def : K<NAME>; defm _i : N<NAME>; } multiclass N<string q> { def z : K<q>; defm : O; } multiclass O { def o : K<NAME>; } defm Q : M; defm : M; def : K<"q">;
//----
class D<int i> { int v = i; } def op; def op2; def x { dag a = !con((op 1), (op 2:$x)); dag b = !dag(op, [1, 2], ["a", ?]); dag c = !setdagop(a, op2); dag d = !setdagarg(b, 0, 9); dag e = !setdagarg(b, "a", 8); dag f = !setdagname(b, 1, "q"); string g = !getdagname(f, 1); int h = !getdagarg<int>(f, "q"); int i = !size(a); dag j = !foreach(t, a, !subst(op, op2, t)); dag k = (op:$nm 1); string l = !getdagopname(k); dag m = !setdagopname(a, "zz"); dag n = !con(k, (op 3)); dag o = (op (op2 1), [(op)]); bit p = !empty((op)); dag q = !dag(op, ["x"], ?); dag r = !dag(op, ?, ["x"]); string s = !repr(a); }
//----
multiclass Base<int n> { def _b { int v = n; } } multiclass Mid<int n> : Base<!add(n, 1)> { def _m { int v = n; } } multiclass Alias<int n> : Mid<n>; class Extra<string s> { string e = s; } defm X : Mid<1>, Base<7>, Extra<"q">; 
//----
multiclass Base<int n> { def _b { int v = n; } } multiclass Mid<int n> : Base<!add(n, 1)> { def _m { int v = n; } } defm X : Mid<1>; defm Y : Mid<1>, Extra<"q">; class Extra<string s> { string e = s; }
//----
class A; class B : A { int f = 0; } class C : A { int f = 1; } def b : B; def c : C; def d { list<A> l = [b, c]; A x = !if(1, b, c); bit e = !eq(b, b); bit f = !ne(b, c); bit g = !isa<B>(x); int h = !cast<C>("c").f; A i = !cast<A>(b); string j = !cast<string>(b); bit k = !exists<A>("zz"); bit l = !exists<A>("b"); int m = !size(!instances<A>()); list<A> n = !instances<A>("^b"); }
//----
class A<string n> { A self = ?; string nm = n; int r = !cast<A>(NAME).k; int k = 4; }
def q : A<"w">;
//----
multiclass M { defvar v = 3; def a { int x = v; } let q = 9 in def b : QQ; } class QQ { int q = 1; } defm Z : M; let q = 4 in defm W : M;
//----
class A<int x>; class A<int x> { int y = x; } def a : A<1>;
//----
defvar a = 1; let a = !add(a, 1) in def x;
//----
class A { int a = 1; } def x : A { let a = !add(a, 1); }
//----
class A { int a = 1; } def x : A { let a = a; }
//----
class A { int a = 1; } def x : A { let y = 1; }
//----
def x { bits<3> a = 9; }
//----
def x { bit a = 2; }
//----
def x { int a = "s"; }
//----
def x { string a = 1; }
//----
class P<int i> { int v = i; } def x : P;
//----
class P<int i> { int v = i; } def x { P p = P<>; }
//----
class P<int i> { int v = i; } def x : P<"s">;
//----
class P<int i> { int v = i; } def x : P<1, 2>;
//----
class P<int i> { int v = i; } def x : P<1, i = 2>;
//----
class P<int i, int j = 1> { int v = i; } def x : P<j = 1, 2>;
//----
class P<int i> { int v = i; } def x : P<k = 1>;
//----
def x : Nope;
//----
def x; def x;
//----
class A; class A { int x; } class A;
//----
class A; class B : A; def x : A, A;
//----
class A; class B : A; def x : B, A;
//----
def x { A a; }
//----
class A; class B; def a : A; def x { B b = a; }
//----
class A; class B; def a : A; def x { list<B> b = [a]; }
//----
def x { list<int> l = [1, "a"]; }
//----
def x { list<int> l = []; int y = [][0]; }
//----
defvar l = [];
//----
def x { int y = z; }
//----
def x { dag d = (nope 1); }
//----
def x { dag d = ("s" 1); }
//----
class A { A a = !cast<A>("missing"); } def x : A;
//----
def x { int y = !cast<int>("1"); }
//----
foreach i = 1 in def x; foreach j = "s" in def y;
//----
foreach i = [1, 2] in def x;
//----
multiclass M { def a; } defm X : M; defm X : M;
//----
multiclass M { class Q; }
//----
defm X : Nope;
//----
multiclass M<int i> { def a { int v = i; } } defm X : M;
//----
assert 0, "no";
//----
class A<int x> { assert !gt(x, 0), "x"; } def a : A<0>;
//----
class A<int x> { assert x, "x"; } def a : A<0>;
//----
class A<string x> { assert x, "x"; } def a : A<"s">;
//----
def x { int y = !add(1, "a"); }
//----
def x { int y = !nope(1); }
//----
def x { int y = !if(1, 2); }
//----
def x { int y = !cond(0: 1); }
//----
def x { bit y = !eq("a", 1); }
//----
def x { bit y = !lt([1], [2]); }
//----
def x { int y = !size(1); }
//----
def x { int y = !head(1); }
//----
def x { list<int> y = !foreach(i, 1, i); }
//----
def x { int i = 1; list<int> y = !foreach(i, [1], i); }
//----
def x { int y = !foldl(0, [1], a, b, "s"); }
//----
def x { string y = !strconcat("a", 1); }
//----
def x { string y = !strconcat("a"); }
//----
def x { string y = "unterminated
"; }
//----
def x { string y = "bad \q escape"; }
//----
def x { code y = [{ open ; }
//----
/* open comment
//----
#ifdef X
def a;
//----
#endif
//----
#else
//----
#ifdef X
#else
#else
#endif
//----
#define
//----
include "nope.td"
//----
include nope
//----
def x { int y = 1 }
//----
def x { int y = ; }
//----
def x { int = 1; }
//----
def x { int y = 1; };
//----
class A { int x; } def y : A { int x = 2; string x = "s"; }
//----
let x = 1 in def y;
//----
class A { int x; } let x = "s" in def y : A;
//----
class A { bits<4> x; } def y : A { let x{4} = 1; }
//----
class A { bits<4> x; } def y : A { let x{0, 0} = 1; }
//----
class A { int x; } def y : A { let x{0} = 1; }
//----
class A { bits<4> x; } def y : A { let x{1...0} = 5; }
//----
def x { bits<2> a = {1, 1, 1}; }
//----
def x { bits<2> a = {2, 1}; }
//----
def x { int a = 0b12; }
//----
def x { int a = 99999999999999999999; }
//----
def x { int a = 0x1FFFFFFFFFFFFFFFFF; }
//----
defset list<int> s = { def a; }
//----
class A; defset list<A> s = { def a; }
//----
class A; defset A s = { def a : A; }
//----
deftype T = Nope;
//----
deftype T = int; class T;
//----
defvar x = 1; defvar x = 2;
//----
def x { defvar y = 1; defvar y = 2; }
//----
def x; defvar x = 1;
//----
class A<int x, int x> {}
//----
class A { int NAME = 1; }
//----
if "s" then def x;
//----
if 1 def x;
//----
def x { int a = !substr("abc", 5); }
//----
def x { string a = !substr("abc", 5); }
//----
def x { int a = !div(1, 0); }
//----
def x { int a = !logtwo(0); }
//----
def x { int a = !shl(1, 64); }
//----
def x { list<int> a = !range(1, 2, 0); }
//----
def b; def c; def x { dag a = !con((b 1), (c 2)); }
//----
def x { int a = !getdagarg<int>((x 1), 1); }
//----
def x { int a = !getdagarg<int>((x 1), "q"); }
//----
def x { string a = !getdagname((x 1), 1); }
//----
def x { bit a = !match("a", "("); }
//----
class A<int n> { A<!add(n, 1)> a = ?; }
//----
class A<int n> { int v = A<!add(n, 1)>.v; } def x { int q = A<0>.v; }
//----
class A<A a>; def x : A<x>;
//----
multiclass M { def a; }; 
//----
def x { int a = b; int b = a; }
//----
class X { int a = ?; int b = !add(a, 1); } def x : X;
//----
class A { int v = 1; } def x { int y = A<>.w; }
//----
def x { int y = x.y; }
//----
class A { int v = 1; } def x : A { int w = x.v; }
//----
def a.b;
//----
def "a" "b" : A;
//----
class A; def "x" # 1 # "y" : A; def x1y;
//----
foreach i = [1] in class A;
//----
foreach i = [1] in multiclass M { def a; }
//----
def x { list<int> a = !listsplat(1, -1); }
//----
class A<list<int> l> { int h = !head(l); } def x : A<[]>;
//----
def x { int y = !isa<Nope>(1); }
//----
def x { list<Nope> y = !instances<Nope>(); }
//----
dump 1;
//----
dump [1];
//----
def x { int y = 1; dump y; }
//----
class A<int a = b, int b = 1> {}
//----
def x { list<int> l = [1] # 2; }
//----
def x { dag d = (x 1) # (x 2); }
//----
multiclass M { defset list<int> x = {} }
//----
let a = 1, b = 2 in { def x
//----
class A {
//----
garbage
//----
def x { $a = 1; }
//----
class A { int x = 1; let x; }
//----
def x : A<1;
//----
class A<int x = "s">;
//----
def x { int y = true; bit z = false; int w = 0b11; bits<4> v = 0b11; }
//----
def x { bits<4> v = 3; bits<2> w = v; }
//----
def x { int a = 1...3; }
//----
def x { int a = -; }
//----
def x { int a = {1,0}; bits<4> b = {0b10, 0b01}; bits<3> c = {1, ?, 0}; int d = c; }
//----
def x { bits<4> c = !cast<bits<4>>(50); }
//----
class A<bits<4> b = {0,?,1,1}>; def a : A;
//----
class A<int b = ?>; def a : A;
//----
class A { string s = "a"; } def x : A { let s = s # "b"; }
//----
class A { list<int> s = [1]; } def x : A { let s = !listconcat(s, [2]); }
//----
class T; class U; def t : T; class A<T t> { U u = t; }
//----
class T; class U : T; def t : T; class A<T t> { U u = !cast<U>(t); } def a : A<t>;
//----
if 1 then class A;
//----
class A; class B; let x = 1 in class C { int x; }
//----
multiclass M { multiclass N { def a; } }
//----
multiclass M;
//----
multiclass M {}  defm X : M;
//----
multiclass M<int i = 1> { assert !eq(i, 1), "bad"; def a; } defm X : M; defm Y : M<2>;
//----
class A<int v> { int x = v; } multiclass M<int n> { def a : A<n>; defm b : N<!add(n, 1)>; } 
multiclass N<int k> { def c : A<k>; }
defm P : M<1>;
//----
class X { code c = [{ $x }]; string d = c # "q"; string e = "q" # c; code f = !subst("x", "y", c); code g = !substr(c, 1); code h = !interleave([c, c], ","); code i = !tolower(c); dag j = (o c:$a, d, e, f, g, h, i); } def o; def x : X;
//----
class A { dag a = (o); } def o { int q = 1; } def b : A { let a = (o 1, "s", [1], {1,0}, ?, b, [{x}]); } def c : A { let a = !con(b.a, (o:$z)); }
//----
class A<int n> { int f = !add(n, 1); int g = f; } class B<int n> : A<!mul(n, 2)> { let f = !add(g, n); } 
def b : B<1>;
//----
let a = [1] in { class P { list<int> a; } } def x : P;
//----
class P { bits<4> a = 0; } let a<0> = 1 in let a<3-2> = 3 in def x : P; let a{0} = 1 in def y : P;
//----
class P { string a = "1"; } def x : P { let a = a # "q"; }
//----
class A<type x>;
//----
class A<int field>;
//----
class K { int a = 1; string b = "q"; list<int> c = [1]; field bits<2> d = 1; dag e = (k); } class K2 : K; def k : K2; def z { string s = !repr(k); }
//----
class N<int i> { string nm = "n" # i; A r = !cast<A>("n" # i); } class A; def n1 : A; def x : N<1>;
//----
multiclass M<string s> { def s; def _#s; def s#NAME; def NAME; def "lit" : Q<s, NAME>; } class Q<string s, string n> { string a = s; string b = n; string c = NAME; } defm N : M<"p">;
//----
class A<int x> { int y = x; } def a : A<!add(1, 2)> { int z = !mul(y, y); assert !eq(z, 9), "z"; } def b : A<3>, C { } class C;
//----
def o; def a { list<dag> z = [(o), (o 1)]; list<string> e = []; list<list<int>> f = [[], [1]]; list<int> g = []<int>; dag h = (o []<int>, [1]<int>); }
//----
def a { bit m = !match("ab", "a||b"); }
//----
def a { bit m = !match("ab", ""); }
//----
def a { bit m = !match("ab", "|a"); }
//----
def a { bit m = !match("ab", "(|a)"); }
//----
def a { bit m = !match("ab", "a{1,2}{3}"); }
//----
def a { bit m = !match("ab", "a{1x}"); }
//----
def a { bit m = !match("ab", "[b-a]"); }
//----
def a { bit m = !match("ab", "^*a"); }
//----
def a { bit m = !match("ab", "[a-c-e]"); }
//----
def a { bit m = !match("ab", "[[.zz.]]"); }
//----
def a { int z = 18446744073709551616; }
