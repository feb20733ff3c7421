"""Calibrated models: files that `parsimon calibrate` has written."""

import base64
import zlib

import numpy as np
import parsimon
import pytest
from scipy.special import expit

# Trained by sgd on two features and calibrated by Platt's method; by hinge loss and isotonic regression.
PLATT = (
    'c-nnay^hmB5Dw7r94jFjW7a>hlL!$}QXGM!L5fahZO_>&t#^%gor8;9(r|CU6HrnkBq-=;PE<5J0wokw%x-'
    'ca{0K`c?|k#k%r`Uk{X2&b?;b4fT^fx>_JmhP?pYI-tKN{=nrJYF%Szij6P4<?sT(pQx+;lBgwp82SH-pA1tLu^@FJMSkD1Wm5vjU{34RKDNLC'
    '2mW^D&0FAP`m7rSEyiPRr^L>D!by#QP8NoO#7&V)cqDhb3=OWtE-;1S-'
    'mf*0Iu(+nQL+y&Q|8u`abZ0Ue}S=ml<ZZJ;vLU_c91vHmOm`57u*o7pE2$qA$3MKkRUWA+guWIuL$SZ6V$}PH$Ht^K!BTkrFfn>4(t7HY;RwVT'
    'UpIVvf1gRmV)XHglt8_`2uU8Ghj5%irn63wxs_H;%zJhGC3hF089F612m?kt$!zjcCl@M+c){nzy4d|=^<E#Q<!z3EZ8`O{DX%r<>I-${YlF-o'
    'Vt#NEt!g^a8X>m9X0vcnPD2>x7jqFP0DRjyzA5dk13(s+tuC+D6YPBk{$yP99$be}z?54bSn$XK7eh#4B81iSvE@d)!JNIVnzqx~C&%a;v-'
    'wfBguZ6;)?ilnh0?6{ee!JCu|Ix7dZ|pyG8PE9__4@PKxB0Eb?W;GheSbH3^!DY0>p$iP-m5n+&Ognce^`9{`uP3qCy4VU6#'
)
ISOTONIC = (
    'c-noFO=uHQ5XV!acu)`#{Hh0eBB-QclQv1~rKtx|M6FdkSR`&XugQa#-MafW)rR<ipdi(Q-zY*aii#qlH<9c?tqN-'
    'E#gkH{v|1Hgm5NoX^JbH6RB$2uGBf{~H}ht<xv6FI+VvYZRQY^9`CH=m;gct7(y#?tnI{$%g6U~X{#SY0Fqz0?$x33SQzSsRVL^msKtaLG+FUS'
    '=tJ2w~a*GCtZkSn>vrby!Nobt4C)!P#VwzxvKB+cU0YW7h2@p%m(3H)oJZq;Zpn6i}94y_?<yoehVm4%k0)%DTIn$UZl_>-'
    'W)Yg~<r9t0T8<uhkdOa=2NHPI=y3KijV6zm=*6mP77t~bCElCeolawbkgWFlXoYFyAIwSsavNQ}zQzdUHThLvi(u0i|IjXC=Mr9{CYL=Q*f}x-'
    'y+cY{r8delVw$pCQPFsl@v~pPj6_ZQ_hcIo5rP3y~ES94QcMnQ17LJBvN;pzqTNjOh0RtMG<4wpoT)vv6Rw7FUS{k^8s)Ny51Lw;IGjLDx%zWv'
    'r8dyeMBo>M_MCziok!V;6$rb9I)HGzL1?WnH1t(#3I7*&C^^B2%p_pX|LuVQ(Kw*n|7n{d6q(Fx^fLb_ta<`Css4oP(uzS;gghSDac;&gCA`-'
    '4Ff%66}Zoox)66GHO)l>hC%S~3sw-'
    '@j`k>AV|_mlC}y!OQbJGQm`DoXpj<#zzxg9+qfe@m5Q{8a;TpHuBad;SyD$M+r?$Gqz~<i0h<cgQUlk<Q$uL&&>72GRd%`7_iH_w-'
    '@DG1cXbo?g^V%zTXTms61Oj<fgBez3=-bM9%Q<gB4yNvD6_8?-'
    'MkaQS}ATjb$GE>|cclJPU^kln?BQS=`iM)vnD{35ydXA$XKIQ_Np>WFhR*}BNNbo=?-'
    'M~kL;?B2Bh<Av4Vi)99TN0sWaF^@yd7q>3oILTf8{Uh;~4<47@x-(ih^~U2!!}!Fi;GjqQ)WGcKtvw!ne?13=rVmWKc-'
    'B~E?8=;*O~pZvGyK;&hmVhXEbg4%b@Ie#kC7uEzBW1EJi5B7c$vrCxjnAG|LbAg-_`aTS(x}h'
)
X = np.array([[0.5, 0.0], [1.0, 0.25], [0.0, 1.0]])


def loaded(text, tmp_path):
    path = tmp_path / "m.psm"
    path.write_bytes(zlib.decompress(base64.b85decode(text)))
    return parsimon.load(path)


# What `parsimon predict` prints for the same rows.
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (PLATT, [0.6681219944895205, 0.774641919879728, 0.06517277526461508]),
        (ISOTONIC, [0.6705882352941176, 0.8333333333333334, 0.0008333333333333334]),
    ],
)
def test_probabilities_are_those_of_the_program(text, expected, tmp_path):
    model = loaded(text, tmp_path)
    probabilities = model.predict_proba(X)
    np.testing.assert_allclose(probabilities[:, 1], expected, rtol=1e-6)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1)
    assert model.predict(X).tolist() == [1, 1, -1]
    row = {1: 0.5}
    assert model.predict_proba_one(row)[1] == pytest.approx(expected[0], rel=1e-6)
    assert model.predict_one(row) == 1
    # The file may be written again.
    model.save(tmp_path / "again.psm")
    again = parsimon.load(tmp_path / "again.psm")
    np.testing.assert_array_equal(again.predict_proba(X), probabilities)


def test_margins_are_not_calibrated(tmp_path):
    model = loaded(PLATT, tmp_path)
    margins = model.decision_function(X)
    np.testing.assert_allclose(expit(margins), [0.5617360305168145, 0.6400341178309035, 0.14073623007791888])
    assert model._learner.calibration == "platt"
    assert parsimon.FTRLClassifier().fit(X, [1, 1, 0]).predict_proba(X).shape == (3, 2)
