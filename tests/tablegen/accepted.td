class A<int n> { bits<4> x = n; } def a : A<3>;
//----
class A<int n> { string x = NAME; } def a : A<3>; def b { A z = A<4>; }
//----
class A { int x = 1; int y = x; } class B : A { let x = 2; } def a : B { int x = 5; }
//----
class A; class B : A; class C : A; class D: B, C; def d : D;
//----
class A; foreach i = 0-3 in def "a"#i; foreach i = {1,3-4} in def "b"#i; foreach i = [7]<int> in { def : A; }
foreach i = 5...2 in def d#i; foreach i = 9 in def e#i;
//----
class A { bits<4> x; field bits<3> y; field int z; } def a : A { let x{1...0} = 2; }
//----
def X { int a = 1; int b = 2; } class R { dag d = (X 1:$a, "s":$b, X, X:$foo, ?:$q, $z, !add(1,2):$t); list<dag> l = [(X:$nm [1,2], [{code}])]; } def r : R;
//----
def X { int a = 1; int b = 2; } class R<list<int> v, bits<4> z> { list<int> w = v[1...2]; int x = v[0]; list<int> q = v[0,2]; bit k = z{1}; bits<2> kk = z{2...1}; string s = "a"#v[0]#"a"; bits<2> m = {z{0},1}; int ki = X.a; int n = v[!add(0,1)]; list<int> w1 = v[0,]; string nu = ?; int kq = !sub(0, v[0]); int mu = !mul(1, v[0], 3); string sc = !strconcat("a", "b", s, "c"); }
def r : R<[1,2,3], 9>;
//----
class C<int a> { int x = a; } class R<int v, string s> { C c = C<v>; int z = C<v>.x; list<C> d = [C<1>, C<v>]; C e = !cast<C>(s); bit f = !eq(v, 3); int g = !cond(f: 1, !lt(v, 2) : 3, true: 9); list<int> l = !foreach(i, [1,2], !add(i, v)); int fo = !foldl(0, l, a, b, !add(a,b)); bit h = !isa<C>(c); bit ex = !exists<C>(s); list<int> ff = !filter(i, l, !eq(i, v)); int sub = !if(f, 1, 2);  dag dd = !dag(c, [1], ["a"]); int gg = !getdagarg<int>(dd, 0); list<int> rr = !range(v); list<int> r2 = !range(0,v); int sz = !size(l); string su = !substr(s, 1); string su2 = !substr(s, 1, 2); string sss = !subst("a","b",s); int fi = !find(s, "a"); bit ini = !initialized(s); string il = !interleave([s,s], ","); list<C> ins = !instances<C>(); string rp = !repr(l); bit m = !match(s, "a"); string t = !tolower(s); list<int> lr = !listremove(l, [2]); list<int> ls = !listsplat(1, v); int hd = !head(l); list<int> tl = !tail(l); int lg = !logtwo(v); bit nn = !not(f); bit em = !empty(l);}
def abc : C<4>; def r : R<1, "abc">;
//----
class E<code c> { code d = c; string k = !strconcat([{a}], c); } def : E<"x">; def : E<[{y}]>; def "foo bar" : E<"z"> { list<E> q = [E<"t">]; dag e = (E<"t"> [{x}], E<"t">:$k);  bits<2> b = {1,?}; dag f = (? 1); }
//----
class P<int a = 3, int b = !add(a, 1)> { int z = b; } def : P; def : P<1>; def : P<b=5>; def : P<1, b=7>; multiclass M<int i> { def a : P<i>; def "" : P<i>; def : P<i>; def NAME#x : P<i>; foreach k = [1,2] in def _#k : P<k>; if !eq(i, 1) then def _y : P<9>; else def _n : P<8>; } defm Q : M<1>; defm "" : M<2>; defm : M<3>;
//----
class A<bits<4> b, bit c> { bits<4> x; let x{3} = b{0}; let x{2...0} = {c, b{1}, 1}; bits<8> y = {b, 0b0110}; int z = b; bits<2> q = {1,0}; int zz = q; string s = !cast<string>(q); int ad = !add(q, 1); bits<4> k = !or(b, 1);} def a : A<5, 1>; def b : A<0b0011, 0>;
//----
class Fac<int n> { int r = !if(!le(n,1), 1, !mul(n, Fac<!sub(n,1)>.r)); } def a { int x = Fac<25>.r; }
//----
class Q { bits<3> x; int y; } let x<1> = 1, y = 2 in { def q : Q; defvar z = 3; } let x<2-1> = 1, y = 2 in def q2 : Q;
//----
defvar a = 1; def b { defvar a = 2; int k = a; } foreach a = [1] in def c { int k = a; }
//----
class Base; class S1 : Base { int k = 1; } class S2 : Base; def s1 : S1; def s2 : S2; defset list<Base> all = { def in1 : S1; foreach i = [1,2] in def in_#i : S2; } def u { list<Base> l = all; int n = !size(all); list<string> names = !foreach(x, all, !cast<string>(x)); list<int> ks = !foreach(x, !filter(y, all, !isa<S1>(y)), !cast<S1>(x).k); }
//----
deftype T = list<int>; class A<T x> { T y = x; } def a : A<[1,2]>;
//----
class A { int v = 1; list<int> w = [v, !add(v, 1)]; string s = "x" # v; } let v = 3 in { let w = [5] in def a : A; def b : A; } def c : A { let v = 9; }
//----
def x { int a = !add(9223372036854775807, 1); int b = !mul(0x7fffffffffffffff, 3); int c = !srl(-1, 60); int d = !sra(-16, 2); int e = !shl(1, 63); int f = !div(-7, 2); int g = !xor(5, 3); int h = !and(12, 10); int i = !sub(-9223372036854775808, 1); int j = 0xFFFFFFFFFFFFFFFF; int k = -5; int l = +5; int m = !logtwo(1025); bits<3> n = -1; bits<3> o = 7; bit p = 1; int q = 0b101; int r = !not(0); int s = !not(5); }
//----
def x { string a = !toupper("abC1ä"); string b = !tolower("ABc"); string c = !substr("hello", 1, 3); int d = !find("hello", "l"); int e = !find("hello", "z"); int f = !find("hello","l",3); string g = !subst("ab", "x", "ababa"); int h = !size("abc"); int i = !empty(""); bit j = !match("foo123", "^[a-z]+[0-9]{3}$"); bit k = !match("foo", "^(a|fo+)$"); bit l = !match("abc", "b"); string m = !interleave([1, 2], "-"); string n = !repr("abc"); string o = !repr([{x}]); bit p = !lt("a", "b"); bit q = !eq("a", "a"); string r = "a" # 1 # "b"; string s = !strconcat("x", [{y}]); }
//----
def op; def x { dag a = (op 1); } def y { dag b = (!getdagop(x.a) 2); int c = !isa<int>(3); }
//----
class A { list<int> l = [1,2,3]; list<int> m = l # [4]; list<list<int>> n = [l, m]; list<int> o = !listflatten(n); list<int> p = !range(5, 0, -2); list<int> q = !range(l); list<int> r = !listconcat(l, m, [9]); list<string> s = !listsplat("x", 2); int t = !head(l); list<int> u = !tail(m); list<int> v = m[2...3]; list<int> w = m[3...0]; list<int> y = m[[0, 1]]; int z = !foldl(0, m, a, b, !add(a, b)); } def a : A; def b : A { let l = [7, 8, 9, 10]; }
//----
multiclass M<list<int> l> { foreach i = l in { foreach j = !range(i) in def _#i#_#j { int s = !add(i, j); } } if !gt(!size(l), 1) then { def many; } else if !empty(l) then def none; else def one; } defm A : M<[1, 2]>; defm B : M<[3]>; foreach k = [1, 2] in defm C#k : M<[k]>;
//----
class A<int x> { int y = x; assert !gt(x, 0), "x is " # x; } def a : A<1>; assert !eq(1, 1), "never"; foreach i = [1] in assert i, "bad";
//----
#define FOO
#ifdef FOO
def a;
#else
def b { broken ' here
#endif
#ifndef FOO
  #ifdef BAR
 junk "
  #else
 junk
  #endif
#else // comment
def c;
#endif
  #ifdef NOPE /* c */
  x
  #endif
def d;
//----
/* a /* nested */ comment */ def a; // x
def 1x; def _2; def b { string s = "tab\t\"q\" \\ \n nl"; code c = [{ multi
line "x" }]; string t = "a" "b"
 "c"; }
//----
class A { int k = 4; A me = !cast<A>(NAME); } def q : A; def : A;
//----
class A { int k = 4; } def q : A { A z = q; }
//----
class A<int a, int b = a, int c = b> { int x = a; int y = b; int z = c; } def a : A<1>; def b : A<1, 2>; def c : A<1, c = 5>; def d : A<a = 4>;
//----
class A<list<string> l = [], string s = ?> { list<string> x = l; } def a : A<["q"], "s">;
//----
class A { bits<8> v = 0; let v{3-0} = 0b1010; let v{7} = 1; bits<4> lo = v{3...0}; bit hi = v{7}; int asint = v; bits<2> part = {hi, v{0}}; } def a : A; def b : A { let v{0} = 1; }
//----
class A { int x = ?; bits<2> y = ?; bits<2> z = {?, 1}; list<int> l = ?; dag d = ?; A r = ?; } def a : A; def b : A { let x = 3; }
//----
class I<int n, string m> { int num = n; string name = m; } foreach p = [I<1, "a">, I<2, "b">] in def "R"#p.name : I<!add(p.num, 10), p.name>;
//----
foreach i = [1,2,3] in { defvar d = !mul(i, 2); def x#i { int v = d; } }
//----
let in1 = 1 in { } class A;
//----
class A; class B<A a>; class C : A { B b = B<!cast<A>("late")>; } def late : A; def c : C;
//----
class X<int n> { int v = n; } class Y<X x> { int w = x.v; } def a : Y<X<3>> { int z = Y<X<3>>.w; }
//----
class X<bit b> { int v = !if(b, 1, 2); string s = !cond(b: "t", true: "f"); } def a : X<1>; def b : X<0>; def c : X<true>;
//----
defvar names = ["a", "b"]; foreach n = names in def n#_x; foreach n = ["p"] in def NAMED_#n;
//----
class A { defvar loc = 5; int x = loc; defvar l2 = !add(x, 1); int y = l2; } def a : A { let x = 7; }
//----
class S<string s> { string v = s; } defvar s = "S"; def t : S<s # s> { string w = s # "x" # s; }
//----
def a { list<bits<2>> l = [0b01, 0b11]; bits<2> f = l[1]; list<bit> b = [1, 0]; }
//----
class RR<list<int> l> { list<int> sorted = !foldl([]<int>, l, acc, x, !listconcat(!filter(y, acc, !lt(y, x)), [x], !filter(y, acc, !ge(y, x)))); } def r : RR<[3, 1, 2]>;
//----
dump "hello"; class A { dump "in class " # NAME; } def a : A;
//----
class A<int i> { int v = i; } defset list<A> ds = { defset list<A> inner = { def p : A<1>; } def q : A<2>; } def z { list<A> a = ds; list<A> b = inner; }
//----
class A { string n = NAME; string m = !strconcat(NAME, "_x"); } multiclass M<string p> { def p#NAME : A; def "q"#NAME#p : A; } defm F : M<"pre">;
//----
class Op<string s, list<string> p = []>; class Args<dag d> { dag a = d; } def ins; def T; def X : Op<"x", ["p"]>, Args<(ins T:$l, T:$r)>;
//----
def a { int x = 1; } def b { int y = a.x; string s = a.x # "q"; dag d = (a a.x:$n, a); }
//----
class A<dag d> { list<string> names = !foreach(i, !range(!size(d)), !getdagname(d, i)); } def o; def a : A<(o 1:$x, 2:$y)>;
//----
class X { int a = 0; } class Y : X { let a = 1; int b = a; } class Z : Y { let a = 2; } def z : Z; def y : Y;
//----
class W<int v> { bits<8> enc; let enc{7-4} = v; let enc{3-0} = !add(v, 1); } def w : W<5>;
//----
class A { int x; } class B { string x; } def y : A, B;
//----
class A { int x = 1; } class B { int x = 2; } def y : A, B;
//----
defvar x = 1; def x;
//----
class A<int x> { int x = 1; int z = x; } def a : A<2>;
//----
multiclass M : M { def a; }
//----
def x { string s = "a" # ; }
//----
class A<int i> { int v = i; } def x { A a = A<1>; A b = A<1>; bit same = !eq(a, b); }
//----
def x { int y = !eq(1, 1); bit z = !initialized(y); string s = !cast<string>(5); int k = !cast<int>(0b11); bit b = !cast<bit>(1); bits<4> c = !cast<bits<4>>(5); }
//----
class A<list<int> b> { list<int> c = b; } def a : A<?>; 
//----
class A<int b> { int c = b; } def a : A<?>; 
//----
class T; class U : T; def t : U; class A<T t> { U u = !cast<U>(t); } def a : A<t>;
//----
class A; foreach i = [1] in defset list<A> s = { def : A; }
//----
foreach i = [1] in deftype T = int;
//----
class C { int x; } let x = 1 in class D : C; def d : D;
//----
class A; if 1 then defset list<A> s = { def : A; }
//----
multiclass M<int i = 1> { assert !eq(i, 1), "bad"; def a; } defm X : M; 
//----
class A<string s> { string t = !tolower(s); } foreach x = ["Q", "R"] in { def x : A<x>; }
//----
foreach x = ["Q", "R"] in { def "p"#x; foreach y = [1] in { def x#y; def x#"k"#y { string n = x; } } }
//----
class A { string n = NAME; } foreach x = ["Q", "R"] in { def x : A; def : A; }
//----
class A { string n = NAME; } multiclass M { foreach x = ["Q", "R"] in { def x : A; def : A; } } defm P : M;
//----
class A<int v> { int x = v; } 
multiclass N<int k> { def c : A<k>; }
multiclass M<int n> { def a : A<n>; defm b : N<!add(n, 1)>; defm "" : N<n>; defm NAME#_q : N<n>; } 
defm P : M<1>; defm : M<3>;
//----
class A<int v> { int x = v; A other = ?; } class B<int v> { A q = A<v>; A r = A<!add(v, 1)>; list<A> l = !foreach(i, [1,2,3], A<i>); }
def b1 : B<1>; def : B<2>; foreach i = [3,4] in def b#i : B<i>;
//----
class A<int v> { int x = v; } class C<bit c> { A a = !if(c, A<1>, A<2>); A b = !cond(c: A<3>, true: A<4>); } def c1 : C<1>; def c0 : C<0>;
//----
class A { int a = 1; } class B<A x> { int y = x.a; } def p : A { let a = 5; } def q : B<p>; def r { B b = B<p>; int z = B<p>.y; }
//----
class A<string n> { string name = n; } class B<A a> { string s = a.name # "_" # a.name; } def x : B<A<"k">>; def y : B<a = A<"k">>;
//----
class V<int n = 0> { int v = n; } def a : V { let v = !add(1, 2); } let v = 4 in { def b : V<3>; def c : V { let v = 5; } }
//----
class R<string n, list<string> a = []> { string name = n; list<string> alt = a; } let alt = ["x"] in def r0 : R<"r0">; defvar k = R<"q">.name; def z { string s = k; }
//----
def A { int x = 1; } def B { int y = A.x; } def C { int z = !add(B.y, A.x); list<dag> d = [(A B:$b), (C)]; }
//----
class I; def i1 : I; def i2 : I; def u { list<I> l = [i1, i2]; list<I> m = !listremove(l, [i1]); bit e = !empty(!listremove(l, l)); I h = !head(m); }
//----
class B<int n> { int g = n; int h = !add(g, 1); } def b : B<1> { let g = 7; }
//----
class Seg<bits<4> hi, bits<4> lo> { bits<8> v; let v{7...4} = hi; let v{3...0} = lo; bits<4> swap = {lo{0}, hi{3}, v{7}, v{0}}; } def s : Seg<0b1010, 0b0011>; def t : Seg<{1,?,0,1}, 0>;
//----
class A<int n> { string s = !cond(!lt(n, 0): "neg", !eq(n, 0): "zero", true: "pos"); } def a : A<-3>; def b : A<0>; def c : A<4>;
//----
class A<string s> { int v = !size(s); string r = !foldl("", !range(!size(s)), acc, i, !strconcat(!substr(s, i, 1), acc)); } def a : A<"hello">;
//----
class A { int n = 3; list<int> l = !range(n); list<int> sq = !foreach(x, l, !mul(x, x)); list<int> ev = !filter(x, sq, !eq(!and(x, 1), 0)); int sum = !foldl(0, sq, a, b, !add(a, b)); list<list<int>> nest = !foreach(x, l, !foreach(y, !range(x), !add(x, y))); } def a : A; def b : A { let n = 5; }
//----
def o; class A<dag d> { dag e = !foreach(x, d, !if(!isa<int>(x), x, x)); int n = !size(d); } def a : A<(o 1, 2)>;
//----
class F<list<string> names> { string all = !interleave(!foreach(n, names, "<" # n # ">"), ", "); } def f : F<["a", "b"]>;
//----
class P { list<int> a; } let a = [1] in let a = [2] in def x : P;
//----
class A { int x; } def a : A { let x = 5; int y = !add(x, 1); let y = !sub(x, 1); }
//----
class Base { string s = "b"; string t = s # "!"; } class D : Base { let s = "d"; } def b : Base; def d : D; def e : D { let t = "over" # s; }
//----
def q { int x = {1, 0, 1}; bits<3> y = {0b10, 1}; bits<6> z = {y, y}; bits<2> w = z{5...4}; bit v = z{0}; bits<3> u = z{0, 2, 4}; int t = !shl(y, 2); }
//----
class A { int 1x = 4; } def a : A { let 1x = 5; }
//----
class A { int _ = 1; } def __ : A;
//----
def x { string s = !repr(!foreach(i, [1, 2], !add(i, 1))); string t = !repr(?); string u = !repr(1); string v = !repr({1,0}); }
//----
class A { int x = 5; } def a : A; def b { int y = !cast<A>("a").x; A c = !cast<A>("a"); string s = !cast<string>(a) # "x"; int z = !cast<A>(!strconcat("", "a")).x; }
//----
foreach i = 0...2 in { if !eq(i, 1) then { def one; } else { def other#i; } defvar k = i; if !ne(k, 2) then def lt#i; }
//----
foreach a = ["x"] in foreach b = [1, 2] in { def a # b; def a # _ # b; def "z" # a # b; }
//----
class A; class C<int x> { int y = x; } def b : A, C<3> { int z = y; } def c : C<4>, A;
//----
def a { int x = !initialized(?); int y = !if(1, ?, 2); list<int> z = [?, 1]; dag d = (a ?); string s = !if(0, "a", ?); }
//----
def a { string x = "a" "b" # "c" "d"; string y = [{x}] # "y"; string z = "x" # [{y}] # 3; }
//----
def o; def a { dag x = (o "a b", 1:$n, "q":$m, (o:$op "z"):$k); string p = !getdagname(x, 1); dag y = !getdagarg<dag>(x, "k"); string z = !getdagarg<string>(x, 0); int w = !getdagarg<int>(x, "m"); }
//----
def a { int z = 9223372036854775808; int y = 18446744073709551615; int w = +9223372036854775808; }
//----
def a { bit m = !match("a]b", "[]]"); bit n = !match("a^", "[^]a]"); bit o = !match("-", "[a-]"); bit p = !match("-b", "[^-]b"); bit q = !match("-", "[+--]"); bit r = !match("", "()"); bit s = !match("a", "(()|a)"); bit t = !match("b", "[[.a.]-[.c.]]"); bit u = !match("a", "[[=a=]]"); bit v = !match(" b", "[[:graph:][:blank:]]b"); }
//----
def a { bit m = !match("é", "[é]"); bit n = !match("è", "[é]"); bit o = !match("äb", "^.b"); bit p = !match("äb", "^..b"); bit q = !match("é", "[[:alpha:]]"); }
